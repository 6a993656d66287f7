import * as executions from './executions.js'
import type { Operation } from './operation.js'
import * as stateMachines from './state-machines.js'
import * as taskAnswers from './task-answers.js'

/** Every action that is served, under its name in `X-Amz-Target`. */
export const operations = {
  CreateStateMachine: stateMachines.createStateMachine,
  CreateStateMachineAlias: stateMachines.createStateMachineAlias,
  DescribeExecution: executions.describeExecution,
  DescribeMapRun: executions.describeMapRun,
  DescribeStateMachine: stateMachines.describeStateMachine,
  DescribeStateMachineAlias: stateMachines.describeStateMachineAlias,
  DescribeStateMachineForExecution: stateMachines.describeStateMachineForExecution,
  GetExecutionHistory: executions.getExecutionHistory,
  ListExecutions: executions.listExecutions,
  ListStateMachineAliases: stateMachines.listStateMachineAliases,
  ListStateMachineVersions: stateMachines.listStateMachineVersions,
  ListStateMachines: stateMachines.listStateMachines,
  ListTagsForResource: stateMachines.listTagsForResource,
  PublishStateMachineVersion: stateMachines.publishStateMachineVersion,
  RedriveExecution: executions.redriveExecution,
  SendTaskFailure: taskAnswers.sendTaskFailure,
  SendTaskHeartbeat: taskAnswers.sendTaskHeartbeat,
  SendTaskSuccess: taskAnswers.sendTaskSuccess,
  StartExecution: executions.startExecution,
  StartSyncExecution: executions.startSyncExecution,
  StopExecution: executions.stopExecution,
  UpdateStateMachine: stateMachines.updateStateMachine,
} satisfies Record<string, Operation>

export type OperationName = keyof typeof operations

export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(operations, name)
}
