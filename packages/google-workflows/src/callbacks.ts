import { createHash } from 'node:crypto'
import type { JsonObject, RunRef } from '@runbridge/core'
import * as z from 'zod'
import type { RestApi } from './rest-api.js'

const callback = z.object({
  name: z.string(),
  method: z.string().default('POST'),
  waiters: z.coerce.number().default(0),
  /** What arrived and no step has taken yet. */
  availablePayloads: z.array(z.string()).default([]),
})
const page = z.object({ callbacks: z.array(callback).default([]), nextPageToken: z.string().default('') })

export type Callback = z.infer<typeof callback>

/** The callbacks of an execution that goes on. Throws `EngineFailure`. */
export async function listCallbacks(rest: RestApi, run: RunRef, signal: AbortSignal): Promise<Callback[]> {
  const callbacks: Callback[] = []
  let pageToken = ''
  do {
    const query = { pageSize: '100', ...(pageToken !== '' && { pageToken }) }
    const path = `${run.id}/callbacks`
    const read = pageOf(await rest.send({ api: 'executions', method: 'GET', path, query }, signal))
    callbacks.push(...read.callbacks)
    pageToken = read.nextPageToken
  } while (pageToken !== '')
  return callbacks
}

function pageOf(json: JsonObject): z.infer<typeof page> {
  const parsed = page.safeParse(json)
  return parsed.success ? parsed.data : { callbacks: [], nextPageToken: '' }
}

/** Whether a step waits for a request that has not arrived: one that has is taken next. */
export function isWaited({ waiters, availablePayloads }: Callback): boolean {
  return waiters > 0 && availablePayloads.length === 0
}

/** The last part of the name, with which the callback's URL ends. It is as secret as the URL. */
export function callbackId({ name }: Pick<Callback, 'name'>): string {
  return name.split('/').at(-1) ?? ''
}

/** What can be shown and kept of a callback: the same for every replica, and no way back to its URL. */
export function callbackHash({ name }: Pick<Callback, 'name'>): string {
  return createHash('sha256').update(callbackId({ name })).digest('hex').slice(0, 16)
}
