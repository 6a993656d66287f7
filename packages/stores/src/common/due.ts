import { isTerminal, type TaskRecord } from '@runbridge/core'

/** Before every time that a clock can show. */
const AT_ONCE = Number.MIN_SAFE_INTEGER

/** The moment after which the record needs somebody (see SweepResult), or undefined for one that does not. */
export function dueAfter(record: TaskRecord): number | undefined {
  if (record.cancel !== undefined && record.cancel.sentAt === undefined && !isTerminal(record.state)) {
    return AT_ONCE
  }
  return record.state === 'starting' ? record.startDeadline : undefined
}
