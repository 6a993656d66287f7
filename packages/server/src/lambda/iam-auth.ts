import { type AuthInfo, OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { BearerAuth } from '../auth/bearer-auth.js'
import type { HttpEvent } from './http-event.js'

/** https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html: `requestContext.authorizer`. */
const authorizer = z.looseObject({
  iam: z.looseObject({ accountId: z.string().min(1), callerId: z.string().min(1) }),
})

/**
 * Callers whose requests AWS has verified: a Function URL of AuthType AWS_IAM, a route of API Gateway with the IAM
 * authorizer. The owner is the account and the role (of whatever session) or the user, by the id that is never given
 * to another one.
 * @param eventOf the event that a request was made of
 */
export function iamAuth(eventOf: (request: Request) => HttpEvent | undefined): BearerAuth {
  return {
    resourceUrl: undefined,
    async authenticate(request) {
      const found = authorizer.safeParse(eventOf(request)?.requestContext.authorizer).data?.iam
      return found ? authInfoOf(found) : unsigned()
    },
    metadataPaths: [],
    metadata: () => new Response(null, { status: 404 }),
    bounded: (_request, _authInfo, response) => response,
    check: async () => [],
  }
}

/** `callerId` is the id of a user, or the id of a role and the name of its session (IAM identifiers, unique IDs). */
function authInfoOf({ accountId, callerId }: { accountId: string; callerId: string }): AuthInfo {
  const [roleId = ''] = callerId.split(':')
  return { token: '', clientId: roleId, scopes: [], extra: { iam: { accountId, roleId } } }
}

/** Only where the function can be reached without AWS's check: nobody is anonymous here. */
function unsigned(): Response {
  const { code, message } = new OAuthError(
    OAuthErrorCode.InvalidClient,
    'AWS has not verified who sends this: sign the request with SigV4, and set the AuthType of the URL to AWS_IAM',
  )
  return Response.json({ error: code, error_description: message }, { status: 401 })
}
