import { roleArn } from './arns.js'
import type { Json } from './asl.js'
import { failureDetails, type History, history, maxEvents, withInput, withOutput } from './history.js'
import { executionField } from './level.js'
import { type LongTimer, longTimer } from './long-timer.js'
import { runLevel, type Thread } from './run-level.js'
import type { EmulatorState } from './state.js'
import type { StartTarget } from './state-machines.js'
import { type Failure, failureOf } from './task-failure.js'

export type ExecutionStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED'

/** How an attempt ended: the fields that DescribeExecution shows. */
export interface Ending extends Failure {
  status: Exclude<ExecutionStatus, 'RUNNING'>
  output: string | undefined
}

/** Express executions end after five minutes: https://docs.aws.amazon.com/step-functions/latest/dg/choosing-workflow-type.html */
const expressSeconds = 300

export interface Execution {
  readonly arn: string
  readonly name: string
  readonly target: StartTarget
  readonly input: string
  readonly startedAt: number
  readonly history: History
  readonly status: ExecutionStatus
  readonly ending: Ending | undefined
  readonly stoppedAt: number | undefined
  readonly redriveCount: number
  readonly redrivenAt: number | undefined
  /** Resolves when the current attempt is over. */
  ended(): Promise<Ending>
  /** ABORTED, unless it is over already. Returns the time it ended. */
  stop(failure: Failure): number
  /** Runs again from the state that was not left, with what that state was given. */
  redrive(): number
  /** Ends everything without a trace, for an emulator that closes. */
  discard(): void
}

export interface NewExecution {
  arn: string
  name: string
  target: StartTarget
  input: string
}

export function startExecution(state: EmulatorState, { arn, name, target, input }: NewExecution): Execution {
  const startedAt = state.now()
  const events = history(state.now, () => end({ status: 'FAILED', output: undefined, ...tooManyEvents }))
  const role = target.machine.roleArn || roleArn(state.place)
  let attempt = newAttempt()
  let status: ExecutionStatus = 'RUNNING'
  let ending: Ending | undefined
  let stoppedAt: number | undefined
  let redriveCount = 0
  let redrivenAt: number | undefined
  let deadline: LongTimer | undefined
  let thread: Thread = { last: 0, state: undefined }

  function begin(resumeAt: Thread['state']): void {
    attempt = newAttempt()
    status = 'RUNNING'
    ending = undefined
    stoppedAt = undefined
    const seconds =
      target.revision.asl.TimeoutSeconds ?? (target.machine.type === 'EXPRESS' ? expressSeconds : undefined)
    deadline = seconds === undefined ? undefined : longTimer(() => end(timedOutEnding), seconds * 1000)
    thread = { last: resumeAt ? thread.last : 0, state: resumeAt }
    void run(resumeAt, attempt.controller.signal)
  }

  async function run(resumeAt: Thread['state'], signal: AbortSignal): Promise<void> {
    const parsed = JSON.parse(input) as Json
    const { tasks, defaultTask } = state.options
    const { tokens, tokenPlaceholder, newId, place } = state
    const own = thread
    try {
      const output = await runLevel(target.revision.level, resumeAt ? resumeAt.input : parsed, {
        execution: {
          arn,
          name,
          region: place.region,
          history: events,
          tokens,
          tasks,
          defaultTask,
          tokenPlaceholder,
          newId,
        },
        thread: own,
        context: contextObject(parsed),
        signal,
        ...(resumeAt && { resumeAt: resumeAt.name }),
      })
      if (!signal.aborted)
        end({ status: 'SUCCEEDED', output: JSON.stringify(output), error: undefined, cause: undefined })
    } catch (error) {
      if (!signal.aborted) end({ status: 'FAILED', output: undefined, ...failureOf(error) })
    }
  }

  function contextObject(parsed: Json): Record<string, unknown> {
    const StartTime = new Date(startedAt).toISOString()
    return {
      [executionField]: {
        Id: arn,
        Input: parsed,
        Name: name,
        RoleArn: role,
        StartTime,
        RedriveCount: redriveCount,
      },
      StateMachine: { Id: target.machine.arn, Name: target.machine.name },
      Task: { Token: state.tokenPlaceholder },
    }
  }

  function end(how: Ending): void {
    if (status !== 'RUNNING') return
    status = how.status
    ending = how
    stoppedAt = state.now()
    deadline?.stop()
    record(how)
    attempt.controller.abort()
    attempt.resolve(how)
  }

  function record(how: Ending): void {
    if (how.status === 'SUCCEEDED') {
      events.add('ExecutionSucceeded', thread.last, withOutput(JSON.parse(how.output ?? 'null') as Json))
    } else if (how.status === 'FAILED') {
      events.add('ExecutionFailed', thread.last, failureDetails(how))
    } else {
      events.add(how.status === 'ABORTED' ? 'ExecutionAborted' : 'ExecutionTimedOut', 0, failureDetails(how))
    }
  }

  events.add('ExecutionStarted', 0, { ...withInput(JSON.parse(input) as Json), roleArn: role })
  begin(undefined)

  return {
    arn,
    name,
    target,
    input,
    startedAt,
    history: events,
    get status() {
      return status
    },
    get ending() {
      return ending
    },
    get stoppedAt() {
      return stoppedAt
    },
    get redriveCount() {
      return redriveCount
    },
    get redrivenAt() {
      return redrivenAt
    },
    ended: () => attempt.ended,
    stop(failure) {
      end({ status: 'ABORTED', output: undefined, ...failure })
      return stoppedAt ?? state.now()
    },
    redrive() {
      redriveCount += 1
      redrivenAt = state.now()
      const resumeAt = thread.state
      thread.last = events.add('ExecutionRedriven', events.events.length, { redriveCount })
      begin(resumeAt)
      return redrivenAt
    },
    discard() {
      deadline?.stop()
      if (status === 'RUNNING') attempt.controller.abort()
    },
  }
}

function newAttempt() {
  let resolve: (ending: Ending) => void = () => {}
  const ended = new Promise<Ending>((resolver) => {
    resolve = resolver
  })
  return { controller: new AbortController(), resolve, ended }
}

const timedOutEnding: Ending = { status: 'TIMED_OUT', output: undefined, error: undefined, cause: undefined }
const tooManyEvents: Failure = {
  error: 'States.Runtime',
  cause: `The execution reached the maximum number of history events (${maxEvents}).`,
}
