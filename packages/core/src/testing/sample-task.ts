import { LOCAL_OWNER, type TaskRecord } from '../task.js'

/** The moment around which sample records live, in ms since the epoch. */
export const SAMPLE_TIME = 1_800_000_000_000

/** A record of a running task, for tests that care about a few of its fields. */
export function sampleTask(fields: Partial<TaskRecord> = {}): TaskRecord {
  return {
    owner: LOCAL_OWNER,
    taskId: 'tsk_sample',
    version: 1,
    tool: 'deploy',
    backend: 'fake',
    workflow: 'deploy-to-production',
    form: 'ext-tasks',
    runKey: 'rb-sample',
    inputDigest: 'digest',
    startDeadline: SAMPLE_TIME + 30_000,
    idKnown: false,
    state: 'running',
    createdAt: SAMPLE_TIME,
    updatedAt: SAMPLE_TIME,
    retainMs: 3_600_000,
    inputs: [],
    refreshAfter: SAMPLE_TIME,
    ...fields,
  }
}
