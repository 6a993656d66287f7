import type { OAuthClientProvider, OAuthDiscoveryState } from '@modelcontextprotocol/client'

type Stored = Awaited<ReturnType<OAuthClientProvider['tokens']>>

/** Someone who uses the client `app` in a browser: the authorization code flow with PKCE, over real redirects. */
export interface Person extends OAuthClientProvider {
  /** What the browser brought back, after the client sent it to log in. */
  readonly callback: Promise<URLSearchParams>
}

export function person(name: string): Person {
  let tokens: Stored
  let verifier = ''
  let discovered: OAuthDiscoveryState | undefined
  let arrived: (callback: Promise<URLSearchParams>) => void = () => {}
  const callback = new Promise<URLSearchParams>((resolve) => {
    arrived = resolve
  })
  const redirectUrl = 'http://127.0.0.1/callback'
  return {
    callback,
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl], scope: 'mcp deploy' },
    clientInformation: () => ({ client_id: 'app' }),
    tokens: () => tokens,
    saveTokens: (saved) => {
      tokens = saved
    },
    codeVerifier: () => verifier,
    saveCodeVerifier: (saved) => {
      verifier = saved
    },
    discoveryState: () => discovered,
    saveDiscoveryState: (saved) => {
      discovered = saved
    },
    redirectToAuthorization: (url) => {
      url.searchParams.set('login_hint', name)
      arrived(browse(url, redirectUrl))
    },
  }
}

/** Follows redirects with cookies, as a browser does, until the provider sends it back to the client. */
async function browse(start: URL, end: string): Promise<URLSearchParams> {
  const cookies = new Map<string, string>()
  let url = start
  for (let hop = 0; hop < 20; hop += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location === null) throw new Error(`${url} answers ${response.status}: ${await response.text()}`)
    url = new URL(location, url)
    if (url.href.startsWith(end)) return url.searchParams
  }
  throw new Error('The provider redirects without an end.')
}
