import { digest } from '../ids.js'
import { isTerminal } from '../run.js'
import type { TaskKey, TaskRecord } from '../task.js'
import type { TaskTool } from '../tool.js'
import type { ServiceContext } from './context.js'
import { forget, replay } from './record.js'
import type { CreateOutcome, CreateRequest } from './task-service.js'

export interface CallNames {
  /** Of the tool and the values of its `idempotencyKey`: points at the task that equal calls get. */
  readonly equal: string
  /** Of a call whose ids are fixed: points at the task it was answered with, for when it is sent again. */
  readonly same?: string
}

/** The names of a call; undefined for tools without an `idempotencyKey`. */
export function namesOf({ name, idempotencyKey }: TaskTool, request: CreateRequest): CallNames | undefined {
  if (!idempotencyKey) return undefined
  const { input, taskId } = request
  const given = idempotencyKey.filter((argument) => Object.hasOwn(input, argument))
  const values = Object.fromEntries(given.map((argument) => [argument, input[argument] ?? null]))
  const equal = digest(['equal', name, values])
  return taskId === undefined ? { equal } : { equal, same: digest(['same', taskId]) }
}

export type Claim =
  /** The record has the name: it starts. */
  | { readonly kind: 'ours' }
  /** Another task has it and is alive, or was the answer to this very call before. */
  | { readonly kind: 'theirs'; readonly holder: TaskRecord }
  /** The record is gone: its deadline passed before it had the name. */
  | { readonly kind: 'overdue' }

/**
 * Claims the names of a call for its record, which is kept and not started yet: so of equal calls at one time, in any
 * process, one starts. A holder that has ended is taken over.
 */
export async function claimNames(
  context: ServiceContext,
  record: TaskRecord,
  names: CallNames,
): Promise<Claim> {
  const { store, onStep } = context
  const { owner, taskId } = record
  onStep('name.claiming')
  if (names.same !== undefined) {
    const answered = await store.claim(owner, names.same, taskId)
    if (answered === undefined) return { kind: 'overdue' }
    const holder = answered === taskId ? undefined : await store.get({ owner, taskId: answered })
    if (holder) return { kind: 'theirs', holder }
  }
  let ended: string | undefined
  for (;;) {
    const holder = await store.claim(owner, names.equal, taskId, ended)
    onStep('name.claimed')
    if (holder === taskId) return { kind: 'ours' }
    if (holder === undefined || holder === ended) return { kind: 'overdue' }
    const present = await store.get({ owner, taskId: holder })
    if (present && !isTerminal(present.state)) return { kind: 'theirs', holder: present }
    ended = present && holder
  }
}

/**
 * Whether the holder's task can't be the caller's: it is of another protocol form, or the caller made an id of its own
 * (SEP-1686, 3.1). Then the caller gets a task of its own, of the same run.
 */
export function needsOwnTask({ form }: TaskRecord, holder: TaskRecord): boolean {
  return form === 'sep-1686' || (form !== 'plain' && holder.form !== 'plain' && holder.form !== form)
}

/**
 * Answers a call with the holder's task. The caller's own record goes: nothing was sent for it, so nobody has to look
 * for what became of it. A call that can be sent again is remembered as answered so: with the holder's
 * record its memory goes. Undefined when the holder went, so that the call starts anew.
 */
export async function join(
  context: ServiceContext,
  record: TaskRecord,
  { same }: CallNames,
  { owner, taskId }: TaskKey,
): Promise<CreateOutcome | undefined> {
  await forget(context, record)
  if (same !== undefined) await context.store.claim(owner, same, taskId)
  return replay(context, { owner, taskId }, record.form)
}
