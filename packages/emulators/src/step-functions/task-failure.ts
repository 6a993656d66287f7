import { timeoutError } from './interpreter.js'

/**
 * An error inside a running state machine, in the shape that the interpreter matches Retry and Catch against.
 * Error and cause are null where the task gave none, as AWS shows them.
 */
export type TaskFailure = Error & { isRetryable: boolean; isCatchable: boolean }

export interface Failure {
  error: string | undefined
  cause: string | undefined
}

export function taskFailure(
  error: string | undefined,
  cause: string | undefined,
  final = false,
): TaskFailure {
  return Object.assign(new Error(), {
    name: (error ?? null) as unknown as string,
    message: (cause ?? null) as unknown as string,
    isRetryable: !final,
    isCatchable: !final,
  })
}

export function timedOut(missed: 'timeout' | 'heartbeat'): Promise<Error> {
  return timeoutError(missed === 'timeout' ? 'States.Timeout' : 'States.HeartbeatTimeout')
}

/** Ends a state whose branch, iteration or execution is over: nothing retries or catches it. */
export function stopped(): TaskFailure {
  return taskFailure('States.Stopped', undefined, true)
}

/** The interpreter's words for a Fail state that gives none. */
const nameless = 'FailStateError'
const causeless = 'Execution failed because of a Fail state'

export function failureOf(thrown: unknown): Failure {
  const { name, message } = (thrown ?? {}) as { name?: unknown; message?: unknown }
  return {
    error: typeof name === 'string' && name !== nameless ? name : undefined,
    cause: typeof message === 'string' && message !== causeless && message !== '' ? message : undefined,
  }
}
