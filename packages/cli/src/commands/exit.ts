import { type ErrorCode, RunbridgeError } from '@runbridge/core'

/** Exit statuses: 1 for what went wrong while running, 2 for a wrong file or command line. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const

const USAGE: readonly ErrorCode[] = ['misconfigured', 'invalid_input']

export function exitStatus(error: unknown): number {
  return error instanceof RunbridgeError && USAGE.includes(error.code) ? EXIT.usage : EXIT.failed
}

/** What a person reads: the message of an error that says what to do next, the stack of a defect. */
export function errorText(error: unknown): string {
  if (error instanceof RunbridgeError && error.code !== 'internal') return error.message
  if (error instanceof RunbridgeError) return errorText(error.cause ?? error.message)
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
