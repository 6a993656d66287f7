import { resolve } from 'node:path'
import { App, Stack, Validations } from 'aws-cdk-lib'
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { AwsSolutionsChecks } from 'cdk-nag'
import { readConfig } from './read-config.js'
import { RunbridgeServer } from './runbridge-server.js'

/**
 * Deploys one server for the state machines of a configuration file:
 * `npx cdk deploy -c config=runbridge.yaml [-c callers=iam] [-c secrets=NAME=ARN,…]`.
 */
const app = new App()
const stack = new Stack(app, 'Runbridge', {
  description: 'Runbridge: state machines as MCP tools',
})
const config = resolve(String(app.node.tryGetContext('config') ?? 'example.yaml'))
const secrets = secretsOf(app.node.tryGetContext('secrets'))
const { stateMachines, store } = readConfig(config, Object.keys(secrets))
new RunbridgeServer(stack, 'Server', {
  config,
  stateMachines,
  store,
  secrets,
  callers: app.node.tryGetContext('callers') === 'iam' ? 'iam' : 'tokens',
})
Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
app.synth()

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
