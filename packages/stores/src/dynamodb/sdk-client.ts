import {
  BatchGetItemCommand,
  DeleteItemCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import type { DynamoDbClient } from './client.js'

/**
 * A client with the commands of the store alone. `DynamoDB` has all of them: 70 kB more in a bundle. Loaded where no
 * client is given; named imports, because a dynamic import of the package itself keeps all of it.
 */
export function sdkClient(config: DynamoDBClientConfig): DynamoDbClient {
  const client = new DynamoDBClient(config)
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
