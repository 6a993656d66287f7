import { RunbridgeError } from '../errors.js'
import { isTerminal, RUN_STATES } from '../run.js'
import type { TaskStore } from '../store.js'
import type { Owner, TaskRecord } from '../task.js'

const OPEN_STATES = RUN_STATES.filter((state) => !isTerminal(state))
/** The most that a store lists at once. */
const PAGE = 1_000

type Kept = Pick<TaskRecord, 'owner' | 'taskId' | 'createdAt'>
/** Of the record of one call: a call that is sent again has the same id. */
const nameOf = ({ taskId, createdAt }: Kept) => `${createdAt} ${taskId}`

/** The bound on the open tasks of one owner. */
export interface Admission {
  /**
   * Announces a record that is about to be kept and may come to nothing, since its call may find another's task: it
   * does not count here before it is admitted. Returns the way to end that.
   */
  announce(record: Kept): () => void
  /**
   * Whether the record, which is kept by now, may become a task: why not, or undefined. In one process the bound is
   * exact; of calls in several at one moment all may be refused that would pass it together. Where lists lag behind
   * (DynamoDB), calls of that moment do not see each other.
   */
  admit(record: Kept): Promise<RunbridgeError | undefined>
}

export function createAdmission(store: TaskStore, maxOpenTasks: number): Admission {
  const announced = new Map<Owner, Set<string>>()
  /** The last count of each owner: they follow each other, so that each sees those whom the one before admitted. */
  const turns = new Map<Owner, Promise<unknown>>()

  function withdraw(record: Kept): void {
    const names = announced.get(record.owner)
    names?.delete(nameOf(record))
    if (names?.size === 0) announced.delete(record.owner)
  }

  async function count(record: Kept): Promise<RunbridgeError | undefined> {
    const { owner } = record
    const listed: string[] = []
    let cursor: string | undefined
    do {
      const limit = Math.min(PAGE, maxOpenTasks + (announced.get(owner)?.size ?? 0))
      const page = await store.list(owner, { states: OPEN_STATES }, limit, cursor)
      listed.push(...page.records.map(nameOf))
      cursor = page.next
      const open = listed.filter((name) => !announced.get(owner)?.has(name)).length
      if (open >= maxOpenTasks) return full(open)
    } while (cursor !== undefined)
    withdraw(record)
    return undefined
  }

  return {
    announce(record) {
      const { owner } = record
      announced.set(owner, (announced.get(owner) ?? new Set()).add(nameOf(record)))
      return () => withdraw(record)
    },
    async admit(record) {
      // Where no store knows how many tasks are open, only calls at the same time are bounded.
      if (maxOpenTasks === Number.POSITIVE_INFINITY || store.lacks?.list !== undefined) return undefined
      const { owner } = record
      const turn = (turns.get(owner) ?? Promise.resolve()).then(() => count(record))
      const over = turn.catch(() => undefined)
      turns.set(owner, over)
      try {
        return await turn
      } finally {
        if (turns.get(owner) === over) turns.delete(owner)
      }
    },
  }
}

function full(open: number): RunbridgeError {
  return new RunbridgeError(
    'limit',
    `This caller has ${open} open tasks, the most this server allows. Nothing was started; wait for one to end or cancel one.`,
  )
}
