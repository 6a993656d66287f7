import { lambda, streamingLambda } from 'runbridge/lambda'
import { configOf } from './config-of.js'
import { secretsOf } from './secrets.js'

/** How the construct tells the function what it is to serve. */
const {
  RUNBRIDGE_CALLERS,
  RUNBRIDGE_FRONT,
  RUNBRIDGE_CONFIG_PARAMETER,
  RUNBRIDGE_LISTEN_MS,
  RUNBRIDGE_SECRETS,
  RUNBRIDGE_VERSION,
} = process.env

/** Once in a sandbox's life, before its first invocation: what is wrong shows in the log at once. */
const [config, secrets] = await Promise.all([
  configOf(RUNBRIDGE_CONFIG_PARAMETER),
  secretsOf(RUNBRIDGE_SECRETS),
])

const settings = {
  config,
  env: { ...process.env, ...secrets },
  callers: RUNBRIDGE_CALLERS === 'iam' ? ('iam' as const) : ('tokens' as const),
  front: RUNBRIDGE_FRONT === 'api-gateway' ? ('api-gateway' as const) : ('function-url' as const),
  ...(RUNBRIDGE_VERSION && { version: RUNBRIDGE_VERSION }),
}

export const handler = RUNBRIDGE_LISTEN_MS
  ? await streamingLambda({ ...settings, longestListenMs: Number(RUNBRIDGE_LISTEN_MS) })
  : await lambda(settings)
