import { type Feature, PERMISSIONS, type Permission } from '@runbridge/step-functions'
import { Arn, ArnFormat, type Stack, Token } from 'aws-cdk-lib'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'

/** A state machine that the function may serve, and what its tools do with it. */
export interface WorkflowAccess {
  /** With `:VERSION` or `:ALIAS` behind it, starts are allowed for that one alone. */
  readonly stateMachineArn: string
  /** Express: started and awaited in one call, no task, no status changes. Default: Standard. */
  readonly express?: boolean
  /** Whether its tools start runs, other than those with `attach: true`. Default true. */
  readonly starts?: boolean
  /** Whether its tools stop runs: with `attach: true` only those with `cancelAttached: true`. Default true. */
  readonly stops?: boolean
  /** Whether callers may answer states that wait for a task token. Default false. */
  readonly gates?: boolean
  /** Whether the current state is read from the history. Default true. */
  readonly progress?: boolean
  /**
   * Whether its runs are started, followed and stopped with roles that the function assumes. The function's own role
   * then only describes it. Default false.
   */
  readonly byRoles?: boolean
}

/** The state machine's own ARN, on which IAM authorizes its versions and aliases too, and what was behind it. */
interface Machine {
  readonly arn: string
  readonly name: string
  readonly qualifier?: string
}

const STARTS = ['states:StartExecution', 'states:StartSyncExecution']

function featuresOf(access: WorkflowAccess): Feature[] {
  const { express, starts = true, stops = true, gates, progress = true, byRoles } = access
  if (byRoles) return ['describe']
  if (express) return ['sync']
  return [
    ...(starts ? (['start'] as const) : []),
    'follow',
    ...(stops ? (['cancel'] as const) : []),
    'redrive',
    ...(progress ? (['progress', 'map_runs'] as const) : []),
    ...(gates ? (['gates'] as const) : []),
  ]
}

/**
 * The statements for one state machine: exactly the actions that its tools need, on it and its executions.
 * https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsstepfunctions.html
 */
export function statementsFor(stack: Stack, access: WorkflowAccess): PolicyStatement[] {
  const machine = machineOf(stack, access.stateMachineArn)
  const arnOf = (resource: string, resourceName: string, arnFormat: ArnFormat) =>
    stack.formatArn({ ...placeOf(stack, machine.arn), resource, resourceName, arnFormat })
  const resources: Readonly<Record<Permission['on'], string>> = {
    stateMachine: machine.arn,
    executions: arnOf('execution', `${machine.name}:*`, ArnFormat.COLON_RESOURCE_NAME),
    mapRuns: arnOf('mapRun', `${machine.name}/*`, ArnFormat.COLON_RESOURCE_NAME),
    everything: '*',
  }
  const permissions = featuresOf(access).flatMap((feature) => PERMISSIONS[feature])
  const groups = new Map<string, { on: Permission['on']; start: boolean; actions: Set<string> }>()
  for (const { action, on } of permissions) {
    const start = machine.qualifier !== undefined && STARTS.includes(action)
    const group = groups.get(`${on} ${start}`) ?? { on, start, actions: new Set() }
    groups.set(`${on} ${start}`, group)
    group.actions.add(action)
  }
  return [...groups.values()].map(
    ({ on, start, actions }) =>
      new PolicyStatement({
        actions: [...actions].sort(),
        resources: [resources[on]],
        ...(start && {
          conditions: { StringEquals: { 'states:StateMachineQualifier': machine.qualifier } },
        }),
      }),
  )
}

/** The ARN without version or alias. */
export function unqualified(stack: Stack, { stateMachineArn }: WorkflowAccess): string {
  return machineOf(stack, stateMachineArn).arn
}

/** A state machine of the same app is known by its name only when it is deployed: it has no version then. */
function machineOf(stack: Stack, arn: string): Machine {
  if (Token.isUnresolved(arn)) {
    const { resourceName = '' } = stack.splitArn(arn, ArnFormat.COLON_RESOURCE_NAME)
    return { arn, name: resourceName }
  }
  const [partition, aws, service, region, account, kind, name = '', qualifier] = arn.split(':')
  if (partition !== 'arn' || service !== 'states' || kind !== 'stateMachine' || name === '')
    throw new Error(
      `${arn} is not the ARN of a state machine; write arn:aws:states:REGION:ACCOUNT:stateMachine:NAME.`,
    )
  const own = ['arn', aws, 'states', region, account, 'stateMachine', name].join(':')
  return { arn: own, name, ...(qualifier !== undefined && { qualifier }) }
}

function placeOf(stack: Stack, arn: string) {
  const {
    partition,
    service,
    region = '',
    account = '',
  } = Token.isUnresolved(arn)
    ? stack.splitArn(arn, ArnFormat.COLON_RESOURCE_NAME)
    : Arn.split(arn, ArnFormat.COLON_RESOURCE_NAME)
  return { partition: partition ?? 'aws', service, region, account }
}
