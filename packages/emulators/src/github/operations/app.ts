import { createVerify } from 'node:crypto'
import { time } from '../bodies.js'
import { badCredentials, notFound } from '../errors.js'
import type { AppSource, EmulatorState } from '../state.js'

/** The two calls that an App makes with its own JWT, to get a token for an installation. */
export function answerApp(
  state: EmulatorState,
  method: string,
  path: string,
  authorization: string,
): { readonly status: number; readonly body: unknown } | undefined {
  const { app } = state
  const asked = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(path)
  if (method !== 'POST' || !asked) return undefined
  if (!app || Number(asked[1]) !== app.installationId) throw notFound()
  if (!signedBy(app, authorization, state.now())) throw badCredentials()
  const token = `ghs_${state.nextId()}`
  state.tokens?.set(token, {
    login: 'runbridge[bot]',
    kind: 'app',
    ...(app.permissions && { permissions: app.permissions }),
  })
  return {
    status: 201,
    body: {
      token,
      expires_at: time(state.now() + 3_600_000),
      permissions: { ...app.permissions, metadata: 'read' },
      repository_selection: 'all',
    },
  }
}

/** https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app */
function signedBy({ id, publicKey }: AppSource, authorization: string, now: number): boolean {
  const [head = '', claims = '', signature = ''] = authorization.replace(/^bearer /i, '').split('.')
  const verify = createVerify('RSA-SHA256').update(`${head}.${claims}`)
  if (!verify.verify(publicKey, Buffer.from(signature, 'base64url'))) return false
  const { iss, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as Record<
    string,
    unknown
  >
  return String(iss) === String(id) && Number(exp) * 1000 > now
}
