import { RunbridgeError } from '@runbridge/core'

/** Where something lives: region and account of a run come from its ARN, never from the caller's credentials. */
export interface Place {
  readonly partition: string
  readonly region: string
  readonly account: string
}

export interface StateMachineName extends Place {
  readonly name: string
  /** Without version or alias; what IAM authorizes on. */
  readonly unqualified: string
  /** A version number, or an alias (which is never only digits). */
  readonly qualifier?: string
}

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_CreateStateMachine.html: names. */
const NAME = /[^\s\p{Cc}:/*?<>{}[\]"#%^|~`$&,;\\]{1,80}/u.source
const STATE_MACHINE = new RegExp(
  `^arn:(aws[\\w-]*):states:([a-z0-9-]+):(\\d{12}):stateMachine:(${NAME})(?::([\\w.-]+))?$`,
  'u',
)
const EXECUTION = new RegExp(
  `^arn:(aws[\\w-]*):states:([a-z0-9-]+):(\\d{12}):execution:(${NAME}):(${NAME})$`,
  'u',
)

/** Throws `misconfigured` for anything but the ARN of a state machine, a version or an alias. */
export function parseStateMachineArn(arn: string): StateMachineName {
  const [, partition, region, account, name, qualifier] = STATE_MACHINE.exec(arn) ?? []
  if (!partition || !region || !account || !name) {
    throw new RunbridgeError(
      'misconfigured',
      `${arn} is not the ARN of a state machine; write arn:aws:states:REGION:ACCOUNT:stateMachine:NAME, with :VERSION or :ALIAS behind it if you want one.`,
    )
  }
  const unqualified = `arn:${partition}:states:${region}:${account}:stateMachine:${name}`
  return { partition, region, account, name, unqualified, ...(qualifier ? { qualifier } : {}) }
}

export function isAlias(qualifier: string | undefined): boolean {
  return qualifier !== undefined && !/^\d+$/.test(qualifier)
}

/** The ARN that DescribeStateMachine takes: it knows versions, and no aliases. */
export function describableArn(machine: StateMachineName): string {
  const version = machine.qualifier !== undefined && !isAlias(machine.qualifier)
  return version ? `${machine.unqualified}:${machine.qualifier}` : machine.unqualified
}

/** Execution ARNs carry neither version nor alias. */
export function executionArn(machine: StateMachineName, name: string): string {
  const { partition, region, account } = machine
  return `arn:${partition}:states:${region}:${account}:execution:${machine.name}:${name}`
}

/** https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsstepfunctions.html: `mapRun`. */
export function mapRunArn(machine: StateMachineName, id: string): string {
  const { partition, region, account } = machine
  return `arn:${partition}:states:${region}:${account}:mapRun:${machine.name}/${id}`
}

export function parseExecutionArn(arn: string): (Place & { stateMachine: string; name: string }) | undefined {
  const [, partition, region, account, stateMachine, name] = EXECUTION.exec(arn) ?? []
  if (!partition || !region || !account || !stateMachine || !name) return undefined
  return { partition, region, account, stateMachine, name }
}
