import { openQuestions } from '../lifecycle.js'
import { isTerminal } from '../run.js'
import type { Task } from '../service/task-service.js'
import type { TaskRecord } from '../task.js'

/** 2026-07-28, noon: where the tests' time begins, in ms since the epoch. */
export const NOON = Date.UTC(2026, 6, 28, 12)

/** A record for tests that need one and not its history. Default: a task that runs since noon. */
export function taskRecord(changes: Partial<TaskRecord> = {}): TaskRecord {
  return {
    owner: 'local',
    taskId: 'tsk_1',
    version: 1,
    tool: 'order',
    backend: 'fake',
    workflow: 'wf',
    form: 'ext-tasks',
    runKey: 'rb-1',
    inputDigest: 'digest',
    startDeadline: NOON + 20_000,
    idKnown: true,
    state: 'running',
    run: { id: 'run-1', attempt: 0 },
    createdAt: NOON,
    updatedAt: NOON,
    retainMs: 3_600_000,
    inputs: [],
    refreshAfter: NOON,
    ...changes,
  }
}

/** The record as the service would show it. */
export function taskOf(record: TaskRecord, pollIntervalMs = 1000): Task {
  return { record, questions: isTerminal(record.state) ? [] : openQuestions(record), pollIntervalMs }
}
