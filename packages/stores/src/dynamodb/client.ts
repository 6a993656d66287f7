import {
  BatchGetItemCommand,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'

/** A value of an attribute as the low-level API has it; of its kinds only those that the store writes. */
interface AttributeValue {
  readonly S?: string | undefined
  readonly N?: string | undefined
  readonly B?: Uint8Array | undefined
}

/** What is written: exactly one kind. */
type Attribute = { S: string } | { N: string } | { B: Uint8Array }
export type Attributes = Record<string, Attribute>
export type Item = Readonly<Record<string, AttributeValue>>

interface Conditional {
  TableName: string
  ConditionExpression?: string
  ExpressionAttributeNames?: Record<string, string>
  ExpressionAttributeValues?: Attributes
}

/** The part of `DynamoDB` of `@aws-sdk/client-dynamodb` that the store uses. */
export interface DynamoDbClient {
  getItem(input: {
    TableName: string
    Key: Attributes
    ConsistentRead: boolean
  }): Promise<{ Item?: Item | undefined }>
  batchGetItem(input: {
    RequestItems: Record<string, { Keys: Attributes[]; ConsistentRead: boolean }>
  }): Promise<{
    Responses?: Record<string, Item[]> | undefined
    UnprocessedKeys?: Record<string, { Keys: Item[] | undefined }> | undefined
  }>
  query(input: {
    TableName: string
    IndexName?: string
    ConsistentRead?: boolean
    KeyConditionExpression: string
    ExpressionAttributeNames: Record<string, string>
    ExpressionAttributeValues: Attributes
    ScanIndexForward?: boolean
    Limit?: number
    ExclusiveStartKey?: Attributes
  }): Promise<{ Items?: Item[] | undefined; LastEvaluatedKey?: Item | undefined }>
  putItem(input: Conditional & { Item: Attributes }): Promise<unknown>
  updateItem(input: Conditional & { Key: Attributes; UpdateExpression: string }): Promise<unknown>
  deleteItem(
    input: Conditional & { Key: Attributes; ReturnValues: 'ALL_OLD' },
  ): Promise<{ Attributes?: Item | undefined }>
  /** Closes the connections. */
  destroy?(): void
}

/** How long a connection and an answer are waited for, in ms; tries in all. */
const CONNECT_MS = 3_000
const ANSWER_MS = 5_000
const ATTEMPTS = 5

export interface DynamoDbClientOptions {
  readonly region: string
  /** Instead of the region's own, such as a local stand-in. */
  readonly endpoint?: string | undefined
}

/**
 * A client of our own, with the commands of the store alone: `DynamoDB` has all of them, and would keep all of them in
 * a bundle. Credentials come from the standard AWS chain.
 */
export function openClient({ region, endpoint }: DynamoDbClientOptions): DynamoDbClient {
  const client = new DynamoDBClient({
    region,
    ...(endpoint !== undefined && { endpoint }),
    maxAttempts: ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: ANSWER_MS,
      throwOnRequestTimeout: true,
    },
  })
  return {
    getItem: (input) => client.send(new GetItemCommand(input)),
    batchGetItem: (input) => client.send(new BatchGetItemCommand(input)),
    query: (input) => client.send(new QueryCommand(input)),
    putItem: (input) => client.send(new PutItemCommand(input)),
    updateItem: (input) => client.send(new UpdateItemCommand(input)),
    deleteItem: (input) => client.send(new DeleteItemCommand(input)),
    destroy: () => client.destroy(),
  }
}
