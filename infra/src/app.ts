import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { App, Duration, Stack, Validations } from 'aws-cdk-lib'
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { AwsSolutionsChecks } from 'cdk-nag'
import { readConfig } from './read-config.js'
import { RunbridgeServer } from './runbridge-server.js'

/**
 * Deploys one server for the state machines of a configuration file, by default `runbridge.yaml`:
 * `npx cdk deploy [-c config=FILE] [-c callers=iam] [-c front=api-gateway] [-c secrets=NAME=ARN,…]
 * [-c streaming=true [-c longestListen=SECONDS]]`.
 */
const app = new App()
const stack = new Stack(app, 'Runbridge', {
  description: 'Runbridge: state machines as MCP tools',
})
// A deployment that forgets its options is none of the example.
const usual = existsSync('runbridge.yaml') ? 'runbridge.yaml' : 'example.yaml'
const config = resolve(String(app.node.tryGetContext('config') ?? usual))
const secrets = secretsOf(app.node.tryGetContext('secrets'))
const { stateMachines, store, assumeRoles } = readConfig(config, Object.keys(secrets))
const longestListen: unknown = app.node.tryGetContext('longestListen')
new RunbridgeServer(stack, 'Server', {
  config,
  stateMachines,
  assumeRoles,
  store,
  secrets,
  callers: choice('callers', ['tokens', 'iam']),
  front: choice('front', ['function-url', 'api-gateway']),
  streaming: choice('streaming', ['false', 'true']) === 'true',
  ...(longestListen !== undefined && { longestListen: Duration.seconds(Number(longestListen)) }),
})
Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
app.synth()

/** One of the values that `-c NAME=VALUE` may have; the first without it. */
function choice<Value extends string>(name: string, values: readonly [Value, ...Value[]]): Value {
  const given = String(app.node.tryGetContext(name) ?? values[0])
  const found = values.find((value) => value === given)
  if (found === undefined) throw new Error(`-c ${name}=${given}: write one of ${values.join(', ')}.`)
  return found
}

/** `NAME=ARN`, with commas between several. */
function secretsOf(text: unknown): Record<string, ISecret> {
  const entries = typeof text === 'string' && text !== '' ? text.split(',') : []
  return Object.fromEntries(
    entries.map((entry) => {
      const [name = '', arn = ''] = entry.split('=')
      return [name, Secret.fromSecretCompleteArn(stack, `Secret-${name}`, arn)]
    }),
  )
}
