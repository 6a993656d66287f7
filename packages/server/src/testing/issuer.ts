import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose'

export interface Claims {
  readonly sub?: string
  readonly aud?: string | readonly string[]
  readonly scope?: string
  /** Whole seconds from now. Default 3600. */
  readonly expiresIn?: number
  readonly [claim: string]: unknown
}

/** An authorization server as far as a resource server sees it: metadata, keys, and tokens signed with them. */
export interface Issuer {
  readonly issuer: string
  readonly audience: string
  /** A token; `alg` and the rest of the header as given. */
  token(claims?: Claims, header?: Partial<JWTHeaderParameters>): Promise<string>
  /** Signs with a new key from now on, and publishes that one alone unless the old one is kept. */
  rotate(options?: { readonly keepOld: boolean }): Promise<void>
  /** Answers with these statuses instead, by path. */
  readonly broken: Map<string, number>
  /** The paths that were asked for. */
  readonly asked: string[]
  close(): Promise<void>
}

export const AUDIENCE = 'https://mcp.test.example/mcp'

/** @param path of the issuer's URL, for tenants of one server */
export async function startIssuer(path = ''): Promise<Issuer> {
  let published: object[] = []
  let signing: { kid: string; key: CryptoKey }
  const broken = new Map<string, number>()
  const asked: string[] = []
  const http = createServer((request, response) => {
    const url = request.url ?? ''
    asked.push(url)
    const documents: Record<string, object> = {
      [`${path}/.well-known/openid-configuration`]: { issuer, jwks_uri: `${issuer}/jwks` },
      [`${path}/jwks`]: { keys: published },
    }
    const document = documents[url]
    const status = broken.get(url) ?? (document ? 200 : 404)
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(status === 200 ? document : {}))
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}${path}`

  let count = 0
  async function rotate({ keepOld } = { keepOld: false }) {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    count += 1
    signing = { kid: `key-${count}`, key: privateKey }
    const jwk = { ...(await exportJWK(publicKey)), kid: signing.kid, alg: 'ES256', use: 'sig' }
    published = keepOld ? [...published, jwk] : [jwk]
  }
  await rotate()

  return {
    issuer,
    audience: AUDIENCE,
    broken,
    asked,
    rotate,
    token: async ({ expiresIn = 3600, ...claims } = {}, header = {}) =>
      new SignJWT({
        iss: issuer,
        aud: AUDIENCE,
        exp: Math.floor(Date.now() / 1000) + expiresIn,
        ...claims,
      } as never)
        .setProtectedHeader({ alg: 'ES256', kid: signing.kid, ...header })
        .sign(signing.key),
    async close() {
      const closed = once(http, 'close')
      http.close()
      http.closeAllConnections()
      await closed
    },
  }
}
