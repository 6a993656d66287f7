import { fromEnv } from '@aws-sdk/credential-provider-env'

/**
 * Instead of `@aws-sdk/credential-provider-node` in the bundle: Lambda gives credentials by environment variables and
 * renews them with the sandbox, so that profiles, SSO and metadata services are never asked.
 */
export const defaultProvider = fromEnv
