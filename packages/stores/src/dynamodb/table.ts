/** Lists an owner's tasks: keys alone, the records are read for themselves. */
export const LIST_INDEX = 'list'
/** What has expired, and what needs the sweeper: a sparse index, without records that need nothing. */
export const DUE_INDEX = 'due'

/** The attribute by which DynamoDB removes items, if time to live is switched on for it: seconds since the epoch. */
const TTL_ATTRIBUTE = 'ttl'

const key = (hash: string, range: string) => [
  { AttributeName: hash, KeyType: 'HASH' as const },
  { AttributeName: range, KeyType: 'RANGE' as const },
]

/** The table as CreateTable takes it: what CDK, CloudFormation or Terraform have to make. */
export function dynamodbTable(table: string) {
  return {
    TableName: table,
    BillingMode: 'PAY_PER_REQUEST' as const,
    KeySchema: key('pk', 'sk'),
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' as const },
      { AttributeName: 'sk', AttributeType: 'S' as const },
      { AttributeName: 'list', AttributeType: 'S' as const },
      { AttributeName: 'listAt', AttributeType: 'S' as const },
      { AttributeName: 'due', AttributeType: 'S' as const },
      { AttributeName: 'dueAt', AttributeType: 'N' as const },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: LIST_INDEX,
        KeySchema: key('list', 'listAt'),
        Projection: { ProjectionType: 'KEYS_ONLY' as const },
      },
      {
        IndexName: DUE_INDEX,
        KeySchema: key('due', 'dueAt'),
        Projection: { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: ['refreshAfter'] },
      },
    ],
  }
}

/** The part of `DynamoDB` of `@aws-sdk/client-dynamodb` that makes a table. */
export interface DynamoDbAdmin {
  createTable(input: ReturnType<typeof dynamodbTable>): Promise<unknown>
  describeTable(input: {
    TableName: string
  }): Promise<{ Table?: { TableStatus?: string | undefined } | undefined }>
  updateTimeToLive(input: {
    TableName: string
    TimeToLiveSpecification: { AttributeName: string; Enabled: boolean }
  }): Promise<unknown>
}

const POLL_MS = 100

/** Some stand-ins don't have it. */
const NO_TTL = ['UnknownOperationException', 'SerializationException', 'InvalidAction']

/**
 * Makes the table, waits for it and switches time to live on: for local use and for accounts without infrastructure
 * as code. Does nothing to a table that is there.
 */
export async function createDynamodbTable(client: DynamoDbAdmin, table: string): Promise<void> {
  try {
    await client.createTable(dynamodbTable(table))
  } catch (thrown) {
    if ((thrown as Error).name !== 'ResourceInUseException') throw thrown
  }
  for (;;) {
    const { Table } = await client.describeTable({ TableName: table })
    if (Table?.TableStatus === 'ACTIVE') break
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  const TimeToLiveSpecification = { AttributeName: TTL_ATTRIBUTE, Enabled: true }
  try {
    await client.updateTimeToLive({ TableName: table, TimeToLiveSpecification })
  } catch (thrown) {
    const { name, message } = thrown as Error
    if (!NO_TTL.includes(name) && !/already enabled/.test(message)) throw thrown
  }
}
