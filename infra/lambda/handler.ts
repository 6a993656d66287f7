import { lambda } from 'runbridge/lambda'
import { configOf } from './config-of.js'
import { secretsOf } from './secrets.js'

/** How the construct tells the function what it is to serve. */
const {
  RUNBRIDGE_CALLERS,
  RUNBRIDGE_FRONT,
  RUNBRIDGE_CONFIG_PARAMETER,
  RUNBRIDGE_SECRETS,
  RUNBRIDGE_VERSION,
} = process.env

/** Once in a sandbox's life, before its first invocation: what is wrong shows in the log at once. */
const [config, secrets] = await Promise.all([
  configOf(RUNBRIDGE_CONFIG_PARAMETER),
  secretsOf(RUNBRIDGE_SECRETS),
])

export const handler = await lambda({
  config,
  env: { ...process.env, ...secrets },
  callers: RUNBRIDGE_CALLERS === 'iam' ? 'iam' : 'tokens',
  front: RUNBRIDGE_FRONT === 'api-gateway' ? 'api-gateway' : 'function-url',
  ...(RUNBRIDGE_VERSION && { version: RUNBRIDGE_VERSION }),
})
