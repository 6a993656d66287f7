// The least that a wrapper of one's own over Step Functions holds: its clients, a look at the state machine before the
// first event, and for each call a start and a record.
import { randomUUID } from 'node:crypto'
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { DescribeStateMachineCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn'

const { STEP_FUNCTIONS_ENDPOINT = '', DYNAMODB_ENDPOINT = '', RUNBRIDGE_TABLE, STATE_MACHINE } = process.env
const sfn = new SFNClient({ endpoint: STEP_FUNCTIONS_ENDPOINT })
const dynamodb = new DynamoDBClient({ endpoint: DYNAMODB_ENDPOINT })
await sfn.send(new DescribeStateMachineCommand({ stateMachineArn: STATE_MACHINE }))

/** @param {{ body: string }} event as a Function URL sends it */
export async function handler({ body }) {
  const { id, params } = JSON.parse(body)
  const name = `rb-${randomUUID()}`
  const input = JSON.stringify(params.arguments)
  const { executionArn } = await sfn.send(
    new StartExecutionCommand({ stateMachineArn: STATE_MACHINE, name, input }),
  )
  const Item = { pk: { S: name }, sk: { S: name }, executionArn: { S: executionArn ?? '' } }
  await dynamodb.send(new PutItemCommand({ TableName: RUNBRIDGE_TABLE, Item }))
  const result = { content: [{ type: 'text', text: name }] }
  return { statusCode: 200, body: JSON.stringify({ jsonrpc: '2.0', id, result }) }
}
