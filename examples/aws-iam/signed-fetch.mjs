import { defaultProvider } from '@aws-sdk/credential-provider-node'
import { Sha256 } from '@smithy/core/checksum'
import { SignatureV4 } from '@smithy/signature-v4'

/** What IAM checks a signature for, by the host: a Function URL, an HTTP API of API Gateway. */
const HOSTS = [
  { service: 'lambda', host: /\.lambda-url\.([a-z0-9-]+)\.on\.aws$/ },
  { service: 'execute-api', host: /\.execute-api\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?$/ },
]

/**
 * A `fetch` that signs what it sends with SigV4. Credentials come from the SDK's default chain (environment, profile, SSO,
 * role of the machine or the container), which renews them, with their session token.
 * @param {object} [options]
 * @param {() => Promise<{ accessKeyId: string, secretAccessKey: string, sessionToken?: string }>} [options.credentials]
 * @param {string} [options.service] by default what the host says; write it for a domain of your own
 * @param {string} [options.region] likewise
 * @param {typeof fetch} [options.fetch] what sends
 * @returns {typeof fetch}
 */
export function signedFetch({
  credentials = defaultProvider(),
  service,
  region,
  fetch = globalThis.fetch,
} = {}) {
  return async (input, init = {}) => {
    const url = new URL(input)
    const place = service && region ? { service, region } : placeOf(url)
    const signer = new SignatureV4({ credentials, sha256: Sha256, ...place })
    const body = new Uint8Array(await new Response(init.body).arrayBuffer())
    const { headers } = await signer.sign({
      method: init.method ?? 'GET',
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: Object.fromEntries(
        [...url.searchParams.keys()].map((key) => [key, url.searchParams.getAll(key)]),
      ),
      headers: { ...Object.fromEntries(new Headers(init.headers)), host: url.host },
      body,
    })
    // `fetch` writes it itself, from the address.
    delete headers.host
    return fetch(url, { ...init, headers, ...(body.length > 0 && { body }) })
  }
}

function placeOf({ hostname }) {
  for (const { service, host } of HOSTS) {
    const region = host.exec(hostname)?.[1]
    if (region) return { service, region }
  }
  throw new Error(`${hostname} tells neither service nor region: give signedFetch both.`)
}
