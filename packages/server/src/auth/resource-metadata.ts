import {
  buildOAuthProtectedResourceMetadata,
  getOAuthProtectedResourceMetadataUrl,
} from '@modelcontextprotocol/server'

export interface ResourceMetadata {
  readonly resourceUrl: URL
  readonly issuers: readonly string[]
  readonly scopes: readonly string[]
}

/** Where RFC 9728, 3.1 puts the document for this resource, then where clients look that know only the host. */
export function metadataPaths(resourceUrl: URL): string[] {
  const root = '/.well-known/oauth-protected-resource'
  return [
    ...new Set([new URL(getOAuthProtectedResourceMetadataUrl(resourceUrl)).pathname, `${root}/mcp`, root]),
  ]
}

/**
 * The protected resource metadata (RFC 9728, 2), with every issuer: the SDK's builder knows one. Readable for
 * pages of any origin, as discovery has to be.
 */
export function metadataResponse(
  request: Request,
  { resourceUrl, issuers, scopes }: ResourceMetadata,
): Response {
  const [issuer = ''] = issuers
  const document = {
    ...buildOAuthProtectedResourceMetadata({
      oauthMetadata: { issuer } as never,
      resourceServerUrl: resourceUrl,
      dangerouslyAllowInsecureIssuerUrl: true,
    }),
    authorization_servers: issuers,
    bearer_methods_supported: ['header'],
    ...(scopes.length > 0 && { scopes_supported: scopes }),
  }
  const headers = { 'access-control-allow-origin': '*', 'cache-control': 'max-age=300' }
  if (request.method === 'OPTIONS') {
    const allowed = {
      'access-control-allow-methods': 'GET',
      'access-control-allow-headers': 'mcp-protocol-version',
    }
    return new Response(null, { status: 204, headers: { ...headers, ...allowed } })
  }
  return Response.json(document, { headers })
}
