import { once } from 'node:events'
import { createServer } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'

/**
 * @typedef {object} OpenIdProvider a real OpenID provider (npm oidc-provider) on loopback
 * @property {string} issuer
 * @property {(options: { keepOld: boolean }) => Promise<void>} rotate signs with a new key from now on
 * @property {() => Promise<void>} close
 */

/** What its clients are, and what they may. `app` is a person's, the others act for themselves. */
const CLIENTS = [
  {
    client_id: 'app',
    token_endpoint_auth_method: /** @type {const} */ ('none'),
    application_type: /** @type {const} */ ('native'),
    redirect_uris: ['http://127.0.0.1/callback'],
    grant_types: ['authorization_code'],
  },
  machine('robot', 'mcp deploy'),
  machine('reader', 'mcp'),
]

/**
 * @param {string} id
 * @param {string} scope
 */
function machine(id, scope) {
  return {
    client_id: id,
    client_secret: `secret of ${id}`,
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
    scope,
  }
}

/**
 * Gives JWT access tokens for one resource (RFC 8707). People log in by their name in `login_hint` and agree to all.
 * @param {{ resource: string, tokenSeconds?: number }} options
 * @returns {Promise<OpenIdProvider>}
 */
export async function startOpenIdProvider({ resource, tokenSeconds = 300 }) {
  /** @type {import('jose').JWK[]} newest first, which is the one that signs */
  let keys = []
  /** @type {Provider} */
  let provider
  const http = createServer((request, response) => {
    if (request.url?.startsWith('/interaction/')) void interact(provider, resource, request, response)
    else provider.callback()(request, response)
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (http.address())
  const issuer = `http://127.0.0.1:${port}`

  let count = 0
  async function rotate({ keepOld = true } = {}) {
    count += 1
    const { privateKey } = await generateKeyPair('RS256', { extractable: true })
    const key = { ...(await exportJWK(privateKey)), kid: `key-${count}`, alg: 'RS256', use: 'sig' }
    keys = keepOld ? [key, ...keys] : [key]
    provider = new Provider(issuer, {
      clients: CLIENTS,
      jwks: { keys },
      scopes: ['openid', 'mcp', 'deploy'],
      cookies: { keys: ['only on loopback'] },
      // Given, so that the provider does not remind anybody to.
      ttl: {
        ClientCredentials: tokenSeconds,
        AccessToken: tokenSeconds,
        Interaction: 60,
        Session: 60,
        Grant: 60,
      },
      findAccount: (_context, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => resource,
          useGrantedResource: () => true,
          getResourceServerInfo: () => ({
            scope: 'mcp deploy',
            audience: resource,
            accessTokenTTL: tokenSeconds,
            accessTokenFormat: 'jwt',
          }),
        },
      },
    })
  }
  await rotate()
  return {
    issuer,
    rotate,
    async close() {
      http.close()
      http.closeAllConnections()
    },
  }
}

/**
 * A person who logs in under the name that the client hints at, and agrees.
 * @param {Provider} provider
 * @param {string} resource
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
async function interact(provider, resource, request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response)
  if (prompt.name === 'login') {
    const result = { login: { accountId: String(params.login_hint) } }
    await provider.interactionFinished(request, response, result)
    return
  }
  const grant = new provider.Grant({ accountId: session?.accountId, clientId: String(params.client_id) })
  const scope = String(params.scope ?? '')
  grant.addOIDCScope(scope)
  grant.addResourceScope(resource, scope)
  const result = { consent: { grantId: await grant.save() } }
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true })
}
