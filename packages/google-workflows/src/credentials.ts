import { RunbridgeError } from '@runbridge/core'
import type { GoogleAuth } from 'google-auth-library'

export interface CredentialsOptions {
  /**
   * A key file: of a service account, or the configuration of workload identity federation. Default: application
   * default credentials (https://docs.cloud.google.com/docs/authentication/application-default-credentials).
   */
  readonly keyFile?: string | undefined
  /** A service account that is impersonated with the credentials found. Default: they are used as they are. */
  readonly impersonate?: string | undefined
}

const SCOPES = ['https://www.googleapis.com/auth/cloud-platform']
/** Of one request for a token. */
const TIMEOUT_MS = 20_000

/** Finds nothing out yet but for an impersonation, which needs a source: `unauthenticated` without one. */
export async function credentials({ keyFile, impersonate }: CredentialsOptions): Promise<GoogleAuth> {
  const { GoogleAuth, Impersonated } = await import('google-auth-library')
  const own = new GoogleAuth({
    scopes: SCOPES,
    clientOptions: { transporterOptions: { timeout: TIMEOUT_MS } },
    ...(keyFile !== undefined && { keyFilename: keyFile }),
  })
  // A service account signs for itself, so that no token has to be fetched: https://google.aip.dev/auth/4111
  own.useJWTAccessWithScope = true
  if (impersonate === undefined) return own
  const sourceClient = await own.getClient().catch(() => {
    const message = `There are no usable Google credentials to impersonate ${impersonate} with; look at application default credentials or the key file.`
    throw new RunbridgeError('unauthenticated', message)
  })
  const authClient = new Impersonated({ sourceClient, targetPrincipal: impersonate, targetScopes: SCOPES })
  return new GoogleAuth({ authClient }) as unknown as GoogleAuth
}

/** For a stand-in: looks for nothing and sends nothing. */
export async function noCredentials(): Promise<GoogleAuth> {
  const { GoogleAuth, PassThroughClient } = await import('google-auth-library')
  const authClient = new PassThroughClient({ transporterOptions: { timeout: TIMEOUT_MS } })
  return new GoogleAuth({ authClient }) as unknown as GoogleAuth
}
