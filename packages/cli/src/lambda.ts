import { RunbridgeError, type SecretStore, type TaskStore } from '@runbridge/core'
import {
  type Front,
  type HttpResult,
  type LambdaOptions,
  lambdaHandler,
  type StreamingHandler,
  type StreamingLambdaOptions,
  streamingLambdaHandler,
} from '@runbridge/server/lambda'
import { statusChanges } from '@runbridge/step-functions'
import { dynamodb as openDynamodb } from '@runbridge/stores/dynamodb'
import { sealed as openSealed } from '@runbridge/stores/sealed'
import { openAuth } from './auth.js'
import { composeOf } from './compose-of.js'
import { type CompiledConfig, readCompiled } from './config/compiled.js'
import type { Environment } from './config/environment.js'
import { parseConfigWith, problemList } from './config/parse-config.js'
import type { Config, ToolConfig } from './config/schema.js'
import type { BoundEngines } from './engines/bound.js'
import { openStepFunctions, type StepFunctionsEngineOptions } from './engines/step-functions.js'
import { jsonLog } from './json-log.js'

export interface LambdaSettings extends Pick<StepFunctionsEngineOptions, 'awsCredentials'> {
  /**
   * The text of a `runbridge.yaml`, for which the package `yaml` is loaded, or what `compileConfig` made of it, for which
   * it is not. `store` is `dynamodb` or `sealed`, and the tools are of Step Functions.
   */
  readonly config: string | CompiledConfig
  /** What `${NAME}` stands for in it. */
  readonly env: Environment
  /** Default `tokens`: `server.auth` of the configuration says which. */
  readonly callers?: 'tokens' | 'iam'
  /** Default `function-url`. */
  readonly front?: Front
  /** What clients are told of this program. Default `0.0.0`. */
  readonly version?: string
}

/**
 * The scheme and host that a request was sent to, as AWS routed it, with the stage of API Gateway that its path begins
 * with: nobody knows them before the first deployment.
 */
const ADDRESS = 'RUNBRIDGE_ADDRESS'
/** Until there is a request. Reserved (RFC 2606), so that nothing is ever taken for it. */
const NO_ADDRESS = 'https://address.invalid'

/**
 * The server as the handler of a Lambda function: Step Functions, a DynamoDB table or no records at all, and nothing
 * else, so that a bundle holds nothing else. Asks AWS for every workflow before it resolves. Throws `misconfigured`
 * for a configuration that can't be served so, with every reason.
 *
 * `${RUNBRIDGE_ADDRESS}` in the configuration is that address of the request, without a slash at its end, unless `env`
 * has it: write `resourceUrl: ${RUNBRIDGE_ADDRESS}/mcp`.
 */
export async function lambda(
  settings: LambdaSettings,
): Promise<(event: unknown) => Promise<HttpResult | undefined>> {
  return lambdaHandler(await optionsOf(settings))
}

/**
 * The same for a Function URL with InvokeMode RESPONSE_STREAM, which serves `subscriptions/listen` too. It needs a Node.js
 * runtime of Lambda.
 */
export async function streamingLambda(
  settings: LambdaSettings & Pick<StreamingLambdaOptions, 'longestListenMs'>,
): Promise<StreamingHandler> {
  const { longestListenMs } = settings
  const options = await optionsOf(settings)
  return streamingLambdaHandler({ ...options, ...(longestListenMs !== undefined && { longestListenMs }) })
}

async function optionsOf(settings: LambdaSettings): Promise<LambdaOptions> {
  const { callers = 'tokens', front, version = '0.0.0', awsCredentials } = settings
  const read = await readerOf(settings)
  const config = withoutHolds(read(NO_ADDRESS))
  const { server: options, store, tools } = config
  if (callers === 'tokens' && !options.auth) throw misconfigured(NOBODY_KNOWN)
  if (callers === 'iam' && options.auth) throw misconfigured(TWO_WAYS)
  const log = jsonLog(options.logLevel)
  const composition = await composeOf(
    config,
    {
      engines: stepFunctionsAlone(config, { log, ...(awsCredentials && { awsCredentials }) }),
      openStore: () => openAwsStore(store),
      version,
      freezes: true,
      schemasChecked: typeof settings.config !== 'string' && settings.config.schemasChecked,
    },
    { log, signal: new AbortController().signal, ...(options.audit && { audit: jsonLog('info') }) },
  )
  const { server } = composition
  const stateMachineArns = tools.flatMap(({ stepFunctions }) => stepFunctions?.stateMachineArn ?? [])
  return {
    server,
    tools: composition.tools,
    auth:
      callers === 'iam'
        ? 'iam'
        : (address) => {
            const auth = openAuth(read(address).server, composition.tools, log)
            if (!auth) throw misconfigured(NOBODY_KNOWN)
            return auth
          },
    ...(front && { front }),
    // A store without records can't find the task of a run.
    events: store.sealed ? [] : [statusChanges({ stateMachineArns, hint: server.service.hint })],
    ...(options.allowedHosts && { allowedHosts: options.allowedHosts }),
    ...(options.allowedOrigins && { allowedOrigins: options.allowedOrigins }),
    log,
  }
}

const NOBODY_KNOWN =
  'Nothing tells who calls: name an authorization server or tokens in `server.auth`, or let AWS verify callers (IAM).'
const TWO_WAYS =
  'Callers are verified by AWS (IAM) here, and `server.auth` asks for tokens too, for which a signed request has no room: use one.'

/** Reads the configuration for one address. */
async function readerOf({ config, env }: LambdaSettings): Promise<(address: string) => Config> {
  const at = (address: string) => ({ [ADDRESS]: address, ...env })
  if (typeof config !== 'string') return (address) => readCompiled(config, at(address))
  const yaml = await import('yaml')
  return (address) => {
    const result = parseConfigWith(yaml, config, at(address))
    if (!result.ok) throw misconfigured(problemList('runbridge.yaml', result.problems))
    return result.config
  }
}

/** What tools say of themselves is what they do: no call waits for a run. */
function withoutHolds(config: Config): Config {
  return { ...config, tools: config.tools.map((tool) => ({ ...tool, holdMs: 0 })) }
}

function stepFunctionsAlone(config: Config, options: StepFunctionsEngineOptions): BoundEngines<ToolConfig> {
  const engine = openStepFunctions(config.engines.stepFunctions, options)
  return {
    async bind(tool) {
      if (tool.stepFunctions) return engine.bind(tool.stepFunctions, tool)
      throw misconfigured(`Tool ${tool.name}: only Step Functions are served on Lambda. Run a server for it.`)
    },
    routes: () => [],
    async close() {
      await engine.close()
    },
  }
}

/** Imported at the top: of what is imported later, bundlers leave nothing out. */
async function openAwsStore({ dynamodb, sealed }: Config['store']): Promise<TaskStore & SecretStore> {
  if (dynamodb) {
    const { endpoint, ...table } = dynamodb
    return openDynamodb({ ...table, ...(endpoint !== undefined && { endpoint }) })
  }
  if (sealed) {
    const { keys, maxAgeMs } = sealed
    return openSealed({ keys, ...(maxAgeMs !== undefined && { maxAgeMs }) })
  }
  throw misconfigured('On Lambda the store is `dynamodb` or `sealed`: nothing else outlives a sandbox.')
}

function misconfigured(message: string): RunbridgeError {
  return new RunbridgeError('misconfigured', message)
}
