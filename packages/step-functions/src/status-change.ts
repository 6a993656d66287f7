import * as z from 'zod'
import { executionArn, parseExecutionArn, parseStateMachineArn } from './arn.js'

/**
 * What is used of an event of EventBridge about an execution. Its status and output are not: events are best effort,
 * come in any order and more than once, and leave out the output above 248 KB, so the run is read again instead.
 * https://docs.aws.amazon.com/step-functions/latest/dg/eventbridge-integration.html
 */
const statusChange = z.looseObject({
  source: z.literal('aws.states'),
  'detail-type': z.literal('Step Functions Execution Status Change'),
  detail: z.looseObject({ executionArn: z.string() }),
})

export interface StatusChangeOptions {
  /** The state machines whose runs are followed, versions and aliases as their state machine. */
  readonly stateMachineArns: readonly string[]
  /** The names of our runs begin with it. Default `rb-`, as `randomIds` of core makes them. */
  readonly runKeyPrefix?: string
  /** Told that something happened to a run: `TaskService.hint`. Awaited. */
  readonly hint: (query: { readonly runKey: string }) => Promise<void>
}

/** The default of `randomIds` of core. */
const RUN_KEY_PREFIX = 'rb-'

/**
 * Takes the status changes of Step Functions. Resolves to false for other events. One of a state machine that is not
 * named or of a run that is not ours is taken and dropped; so is one of a run that no task follows (yet): its task is
 * brought up to date by whoever polls it, or by the sweeper.
 */
export function statusChanges(options: StatusChangeOptions): (event: unknown) => Promise<boolean> {
  const { stateMachineArns, runKeyPrefix = RUN_KEY_PREFIX, hint } = options
  const machines = stateMachineArns.map(parseStateMachineArn)
  return async (event) => {
    const { detail } = statusChange.safeParse(event).data ?? {}
    if (!detail) return false
    const execution = parseExecutionArn(detail.executionArn)
    // The name is the run key that the run was started with.
    const ours =
      execution?.name.startsWith(runKeyPrefix) &&
      machines.some((machine) => executionArn(machine, execution.name) === detail.executionArn)
    if (execution && ours) await hint({ runKey: execution.name })
    return true
  }
}

/** The pattern of a rule for exactly these events, so that nobody pays for others. Versions share their state machine's. */
export function statusChangePattern({
  stateMachineArns,
  runKeyPrefix = RUN_KEY_PREFIX,
}: Pick<StatusChangeOptions, 'stateMachineArns' | 'runKeyPrefix'>) {
  const machines = stateMachineArns.map((arn) => parseStateMachineArn(arn).unqualified)
  return {
    source: ['aws.states'],
    detailType: ['Step Functions Execution Status Change'],
    detail: {
      stateMachineArn: [...new Set(machines)],
      name: [{ prefix: runKeyPrefix }],
      // A start is known to whoever started it.
      status: ['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED', 'PENDING_REDRIVE'],
    },
  }
}
