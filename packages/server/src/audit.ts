import {
  type AnswerOutcome,
  type CreateOutcome,
  isTerminal,
  type Log,
  type Owner,
  type Task,
  type TaskKey,
  type TaskService,
  toRunbridgeError,
} from '@runbridge/core'

/** Who did what to which task, and what came of it. Never arguments, answers, tokens or results. */
export interface AuditEvent {
  readonly action: 'call' | 'answer' | 'cancel' | 'delete' | 'end'
  readonly owner: Owner
  /** Absent where the task is not the owner's, so that nothing of it is known. */
  readonly tool?: string
  /** As the caller named it, where there is no such task. */
  readonly taskId?: string
  /**
   * call: the state of the task, `replayed` for one that was there already, `asked` for a question before the
   * start; answer: what became of the best of its answers; cancel: `requested`, or the state of a task that has
   * ended; delete: `deleted`; end: how the run of a task ended that was cancelled for good (2025-11-25), which its
   * client is not told; any: the code of the error that refused it.
   */
  readonly outcome: string
}

export type Audit = (event: AuditEvent) => void

/** Longer ids are none of ours. */
const ID_CHARS = 200

/** One line an event, told from the rest of the log by the field `audit`. */
export function auditTo(log: Log): Audit {
  return ({ action, taskId, ...event }) => {
    const id = taskId === undefined ? {} : { taskId: taskId.slice(0, ID_CHARS) }
    log.info({ audit: action, ...event, ...id }, 'audit')
  }
}

const BEST_FIRST: readonly AnswerOutcome[] = ['delivered', 'dismissed', 'too_late', 'ignored']

/** The service, with a line for all that is done through it, by whatever way a caller came. */
export function audited(service: TaskService, audit: Audit): TaskService {
  const started =
    <R extends { readonly owner: Owner; readonly tool: string }>(
      start: (request: R) => Promise<CreateOutcome>,
    ) =>
    async (request: R) => {
      const made = await start(request)
      // Whoever asked for it tells why it was refused: `callTool` does.
      if (made.kind === 'task') {
        const { owner, tool, taskId, state } = made.task.record
        audit({ action: 'call', owner, tool, taskId, outcome: made.replayed ? 'replayed' : state })
      }
      return made
    }

  async function done<T>(
    action: AuditEvent['action'],
    { owner, taskId }: TaskKey,
    work: () => Promise<T>,
    outcomeOf: (result: T) => { readonly tool?: string; readonly outcome: string } | undefined,
  ): Promise<T> {
    try {
      const result = await work()
      const outcome = outcomeOf(result)
      if (outcome) audit({ action, owner, taskId, ...outcome })
      return result
    } catch (thrown) {
      audit({ action, owner, taskId, outcome: toRunbridgeError(thrown).code })
      throw thrown
    }
  }

  const cancelled = ({ record: { tool, state } }: Task) => ({
    tool,
    outcome: isTerminal(state) ? state : 'requested',
  })

  return {
    ...service,
    create: started((request) => service.create(request)),
    attach: started((request) => service.attach(request)),
    answer: (key, responses) =>
      done(
        'answer',
        key,
        () => service.answer(key, responses),
        ({ task, outcomes }) => {
          const best = BEST_FIRST.find((outcome) => Object.values(outcomes).includes(outcome))
          return best && { tool: task.record.tool, outcome: best }
        },
      ),
    cancel: (key, reason) => done('cancel', key, () => service.cancel(key, reason), cancelled),
    seal: (key, reason) => done('cancel', key, () => service.seal(key, reason), cancelled),
    delete: (key) =>
      done(
        'delete',
        key,
        () => service.delete(key),
        () => ({ outcome: 'deleted' }),
      ),
  }
}
