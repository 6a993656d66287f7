import { dynamodbTable } from '@runbridge/stores/dynamodb'
import { RemovalPolicy } from 'aws-cdk-lib'
import {
  type Attribute,
  AttributeType,
  BillingMode,
  type ProjectionType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb'
import { type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { Construct } from 'constructs'

export interface TaskTableProps {
  /** What becomes of the table with its stack. Default RETAIN: it holds the tasks that clients ask for. */
  readonly removalPolicy?: RemovalPolicy
}

type Keys = ReturnType<typeof dynamodbTable>['KeySchema']
type Indexes = ReturnType<typeof dynamodbTable>['GlobalSecondaryIndexes']

/** The attribute that the store writes for time to live. */
const TTL_ATTRIBUTE = 'ttl'

/** The table of the DynamoDB store, in the shape that the store itself describes. */
export function taskTable(scope: Construct, id: string, { removalPolicy }: TaskTableProps = {}): Table {
  const shape = dynamodbTable('')
  const types = new Map(shape.AttributeDefinitions.map((one) => [one.AttributeName, one.AttributeType]))
  const attribute = (keys: Keys, type: 'HASH' | 'RANGE'): Attribute => {
    const name = keys.find(({ KeyType }) => KeyType === type)?.AttributeName ?? ''
    return { name, type: types.get(name) === 'N' ? AttributeType.NUMBER : AttributeType.STRING }
  }
  const keysOf = (keys: Keys) => ({
    partitionKey: attribute(keys, 'HASH'),
    sortKey: attribute(keys, 'RANGE'),
  })
  const table = new Table(scope, id, {
    ...keysOf(shape.KeySchema),
    billingMode: BillingMode.PAY_PER_REQUEST,
    encryption: TableEncryption.AWS_MANAGED,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    timeToLiveAttribute: TTL_ATTRIBUTE,
    removalPolicy: removalPolicy ?? RemovalPolicy.RETAIN,
  })
  for (const { IndexName, KeySchema, Projection } of shape.GlobalSecondaryIndexes) {
    table.addGlobalSecondaryIndex({
      indexName: IndexName,
      ...keysOf(KeySchema),
      projectionType: Projection.ProjectionType as ProjectionType,
      // Absent or undefined: what is inferred for it differs between the sources and the built package.
      ...('NonKeyAttributes' in Projection &&
        Projection.NonKeyAttributes && { nonKeyAttributes: [...Projection.NonKeyAttributes] }),
    })
  }
  return table
}

/** Exactly what the store calls. Lists and sweeps query the indexes, and nothing is ever scanned. */
const ON_TABLE = ['BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem']

export function grantStore(table: Table, grantee: IGrantable): void {
  const indexes: Indexes = dynamodbTable('').GlobalSecondaryIndexes
  grantee.grantPrincipal.addToPrincipalPolicy(
    new PolicyStatement({
      sid: 'Tasks',
      actions: ON_TABLE.map((action) => `dynamodb:${action}`),
      resources: [table.tableArn],
    }),
  )
  grantee.grantPrincipal.addToPrincipalPolicy(
    new PolicyStatement({
      sid: 'TaskIndexes',
      actions: ['dynamodb:Query'],
      resources: indexes.map(({ IndexName }) => `${table.tableArn}/index/${IndexName}`),
    }),
  )
}
