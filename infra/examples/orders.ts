import { readFileSync } from 'node:fs'
import { App, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { StringParameter } from 'aws-cdk-lib/aws-ssm'
import { DefinitionBody, Pass, StateMachine } from 'aws-cdk-lib/aws-stepfunctions'
import { RunbridgeServer } from '../src/index.js'

/**
 * An app that has a state machine already, and the server in the same stack, with its configuration in a parameter and
 * the hash of a token in a secret that is there: `-c token=ARN`. `npm run interop -- lambda` deploys it.
 */
const app = new App()
const stack = new Stack(app, 'Orders')

const orders = new StateMachine(stack, 'Fulfil', {
  definitionBody: DefinitionBody.fromChainable(new Pass(stack, 'Fulfilled')),
})
const config = new StringParameter(stack, 'Config', {
  parameterName: '/runbridge/orders',
  stringValue: readFileSync('examples/orders.yaml', 'utf8'),
})
const token = Secret.fromSecretCompleteArn(stack, 'Token', String(app.node.tryGetContext('token')))

new RunbridgeServer(stack, 'Mcp', {
  config,
  stateMachines: [{ stateMachineArn: orders.stateMachineArn }],
  environment: { ORDERS: orders.stateMachineArn },
  secrets: { TOKEN_SHA256: token },
  tableRemovalPolicy: RemovalPolicy.DESTROY,
})
app.synth()
