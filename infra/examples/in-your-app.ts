import { Stack, type StackProps } from 'aws-cdk-lib'
import { DefinitionBody, Pass, StateMachine } from 'aws-cdk-lib/aws-stepfunctions'
import type { Construct } from 'constructs'
import { RunbridgeServer } from '../src/index.js'

/** A stack that had a state machine already, with what docs/aws.md adds to it. */
export class Shop extends Stack {
  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props)
    const definitionBody = DefinitionBody.fromChainable(new Pass(this, 'Done'))
    const orders = new StateMachine(this, 'Orders', { definitionBody })

    // #region server
    new RunbridgeServer(this, 'Mcp', {
      config: 'runbridge.yaml',
      stateMachines: [{ stateMachineArn: orders.stateMachineArn, gates: true }],
      environment: { ORDERS: orders.stateMachineArn },
    })
    // #endregion
  }
}
