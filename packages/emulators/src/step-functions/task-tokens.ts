import type { Json } from './asl.js'
import { apiError, invalidToken } from './errors.js'

export type TaskAnswer =
  | { kind: 'success'; output: Json }
  | { kind: 'failure'; error: string | undefined; cause: string | undefined }

/** A task that waits for its token to come back. */
export interface OpenTask {
  token: string
  executionArn: string
  stateName: string
}

export interface TaskTokens {
  open(task: Omit<OpenTask, 'token'>, onHeartbeat: () => void): { token: string; answer: Promise<TaskAnswer> }
  /** The task no longer waits: it timed out, or its execution is over. */
  close(token: string): void
  /** Throws InvalidToken, TaskDoesNotExist, or TaskTimedOut for a task that no longer waits. */
  answer(token: unknown, answer: TaskAnswer): void
  heartbeat(token: unknown): void
  openTasks(): OpenTask[]
}

/** Every token starts like AWS's own; a text that does not is InvalidToken rather than TaskDoesNotExist. */
const prefix = 'AQCEAAAAKgAAAAMAAAAA'
const shape = new RegExp(`^${prefix}[A-Za-z0-9_-]{43,}$`)

interface Entry extends OpenTask {
  waits: boolean
  resolve: (answer: TaskAnswer) => void
  onHeartbeat: () => void
}

export function taskTokens(secret: () => string): TaskTokens {
  const entries = new Map<string, Entry>()

  function waiting(token: unknown): Entry {
    const text = String(token ?? '')
    if (!shape.test(text)) throw invalidToken()
    const entry = entries.get(text)
    if (!entry) throw apiError('TaskDoesNotExist', "Task does not exist: 'Unknown task token'")
    if (!entry.waits) throw apiError('TaskTimedOut', "Task Timed Out: 'Provided task does not exist anymore'")
    return entry
  }

  return {
    open(task, onHeartbeat) {
      const token = prefix + secret()
      let resolve: Entry['resolve'] = () => {}
      const promise = new Promise<TaskAnswer>((resolver) => {
        resolve = resolver
      })
      entries.set(token, { ...task, token, waits: true, resolve, onHeartbeat })
      return { token, answer: promise }
    },
    close(token) {
      const entry = entries.get(token)
      if (entry) entry.waits = false
    },
    answer(token, answer) {
      const entry = waiting(token)
      entry.waits = false
      entry.resolve(answer)
    },
    heartbeat(token) {
      waiting(token).onHeartbeat()
    },
    openTasks() {
      return [...entries.values()]
        .filter((entry) => entry.waits)
        .map(({ token, executionArn, stateName }) => ({ token, executionArn, stateName }))
    },
  }
}
