import { cutText, isJsonObject, type Json, type RunError } from '@runbridge/core'
import type { Execution } from './executions-api.js'

/** The most of a payload or a context that is kept, in bytes of UTF-8; what is cut says so. */
export const TEXT_LIMIT_BYTES = 4096

/**
 * The failure in Google's own words. The payload is JSON: what the workflow raised, a text or a map. The stack
 * trace begins with the step where the error occurred.
 */
export function runError({ error }: Execution): RunError {
  const payload = parseJson(error?.payload ?? '')
  const context = error?.context ?? ''
  const [frame] = error?.stackTrace?.elements ?? []
  const step = frame?.step ? stepName(frame) : undefined
  const detail = [isJsonObject(payload) ? JSON.stringify(payload, undefined, 2) : '', context].filter(Boolean)
  return {
    code: codeOf(payload),
    message: cutText(messageOf(payload, error?.payload ?? ''), TEXT_LIMIT_BYTES),
    ...(step !== undefined && { step }),
    ...(detail.length > 0 && {
      detail: detail.map((text) => cutText(text, TEXT_LIMIT_BYTES)).join('\n\n'),
    }),
  }
}

/** Errors of the platform carry tags, such as `HttpError`; those that a workflow raises may have a code of their own. */
function codeOf(payload: Json | undefined): string {
  if (!isJsonObject(payload)) return 'FAILED'
  const [tag] = Array.isArray(payload.tags) ? payload.tags : []
  if (typeof tag === 'string' && tag !== '') return tag
  const { code } = payload
  return typeof code === 'string' || typeof code === 'number' ? String(code) : 'FAILED'
}

function messageOf(payload: Json | undefined, raw: string): string {
  if (typeof payload === 'string') return payload
  if (!isJsonObject(payload)) return raw
  return typeof payload.message === 'string' ? payload.message : ''
}

/** `routine.step`, as Google's own traces name steps. */
export function stepName({
  routine,
  step,
}: {
  readonly routine?: string | null
  readonly step?: string | null
}): string {
  return routine ? `${routine}.${step ?? ''}` : (step ?? '')
}

export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
