import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server'

/** The token is good and may not do this. All scopes that it needs are named at once. */
export class InsufficientScope extends OAuthError {
  readonly scopes: readonly string[]

  constructor(scopes: readonly string[]) {
    super(OAuthErrorCode.InsufficientScope, `This needs the scope ${scopes.join(' and ')}`)
    this.scopes = scopes
  }
}
