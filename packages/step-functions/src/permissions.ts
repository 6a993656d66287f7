import { executionArn, mapRunArn, parseStateMachineArn } from './arn.js'

/**
 * What a tool needs of AWS, by what it does. `redrive`: telling our attempt from a later one. `map_runs`: the counts
 * of distributed Maps. `describe`: all that the server's own credentials need where each owner has some.
 */
export const FEATURES = [
  'describe',
  'start',
  'follow',
  'progress',
  'map_runs',
  'gates',
  'cancel',
  'redrive',
  'sync',
  'discover',
] as const
export type Feature = (typeof FEATURES)[number]

export interface Permission {
  /** The IAM action. */
  readonly action: string
  /** What the policy names as Resource. Versions and aliases are authorized on the state machine's own ARN. */
  readonly on: 'stateMachine' | 'executions' | 'mapRuns' | 'everything'
  readonly why: string
}

const DESCRIBE: Permission = {
  action: 'states:DescribeStateMachine',
  on: 'stateMachine',
  why: 'its type and description; and to tell a run that is gone from one that can not be read',
}
const HISTORY = (why: string): Permission => ({
  action: 'states:GetExecutionHistory',
  on: 'executions',
  why,
})

/** https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsstepfunctions.html */
export const PERMISSIONS: Readonly<Record<Feature, readonly Permission[]>> = {
  describe: [DESCRIBE],
  start: [
    DESCRIBE,
    { action: 'states:StartExecution', on: 'stateMachine', why: 'starts the run' },
    { action: 'states:DescribeExecution', on: 'executions', why: 'finds a run whose start was not answered' },
  ],
  follow: [
    DESCRIBE,
    { action: 'states:DescribeExecution', on: 'executions', why: 'state, output and error of a run' },
  ],
  progress: [HISTORY('the current state, iterations, nested executions, and the failing state')],
  map_runs: [
    {
      action: 'states:DescribeMapRun',
      on: 'mapRuns',
      why: 'how far a distributed Map is; without it, it is not counted',
    },
  ],
  gates: [
    HISTORY('the states that wait for a token'),
    { action: 'states:SendTaskSuccess', on: 'stateMachine', why: 'an answer that was given' },
    { action: 'states:SendTaskFailure', on: 'stateMachine', why: 'an answer that was declined' },
  ],
  cancel: [
    { action: 'states:DescribeExecution', on: 'executions', why: 'whether the run can still be stopped' },
    { action: 'states:StopExecution', on: 'executions', why: 'stops the run' },
  ],
  redrive: [HISTORY('the end of an attempt that was redriven since')],
  sync: [DESCRIBE, { action: 'states:StartSyncExecution', on: 'stateMachine', why: 'runs it to its end' }],
  discover: [{ action: 'states:ListStateMachines', on: 'everything', why: 'lists what could become a tool' }],
}

export interface Grant {
  readonly action: string
  readonly resource: string
  readonly why: string
}

/** The permissions for one state machine, each once, as a policy would list them. */
export function permissionsFor(features: readonly Feature[], stateMachineArn: string): Grant[] {
  const machine = parseStateMachineArn(stateMachineArn)
  const resources = {
    stateMachine: machine.unqualified,
    executions: executionArn(machine, '*'),
    mapRuns: mapRunArn(machine, '*'),
    everything: '*',
  }
  const grants = new Map<string, Grant>()
  for (const { action, on, why } of features.flatMap((feature) => PERMISSIONS[feature])) {
    if (!grants.has(action)) grants.set(action, { action, resource: resources[on], why })
  }
  return [...grants.values()]
}
