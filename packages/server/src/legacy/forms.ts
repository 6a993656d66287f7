import { expiresAt, RunbridgeError, type TaskKey, type TaskRecord } from '@runbridge/core'
import type { App } from '../app.js'
import { core20251125 } from './core-2025-11-25.js'
import type { OlderForm } from './older-form.js'
import { sep1686 } from './sep-1686.js'

const FORMS: readonly OlderForm[] = [core20251125, sep1686]

/** The wire form that a task of an older revision was made in; undefined for all other tasks. */
export function olderForm(record: Pick<TaskRecord, 'form'>): OlderForm | undefined {
  return FORMS.find(({ form }) => form === record.form)
}

/**
 * The form of a task that the methods of older revisions may see: their own tasks, and nobody else's. Read from
 * the store alone. `task_not_found` for an unknown, a foreign and an expired id alike.
 */
export async function formOf(app: App, key: TaskKey): Promise<OlderForm> {
  const record = await app.store.get(key)
  const form = record && olderForm(record)
  const expired = record !== undefined && (expiresAt(record) ?? Number.POSITIVE_INFINITY) < app.clock.now()
  if (!form || expired) throw new RunbridgeError('task_not_found', 'Task not found')
  return form
}
