import { cutText, isJsonObject, type Json, type RunError } from '@runbridge/core'

/** The most of a cause that is kept, in bytes of UTF-8; what is cut says so. AWS allows 32,768 characters. */
export const CAUSE_LIMIT_BYTES = 4096

/** What StopExecution is told when a task is cancelled here, so that our own stop can be told from others. */
export const CANCELLED = 'Runbridge.Cancelled'
/** What SendTaskFailure is told when a person declines. */
export const DECLINED = 'Runbridge.Declined'

/** Where the texts of an end come from: DescribeExecution, StartSyncExecution and history events alike. */
export interface Ending {
  readonly error?: string | undefined
  readonly cause?: string | undefined
}

/** The failure in AWS's own words. A cause that is JSON, as of a Lambda function, is the detail. */
export function runError({ error, cause }: Ending, fallback: string, step?: string): RunError {
  const code = error === undefined || error === '' ? fallback : error
  const where = step === undefined ? {} : { step }
  if (cause === undefined || cause === '') return { code, message: '', ...where }
  const parsed = parseJson(cause)
  if (!isJsonObject(parsed)) return { code, message: cutText(cause, CAUSE_LIMIT_BYTES), ...where }
  const said = parsed.errorMessage ?? parsed.Message ?? parsed.message
  return {
    code,
    message: typeof said === 'string' ? cutText(said, CAUSE_LIMIT_BYTES) : '',
    ...where,
    detail: cutText(JSON.stringify(parsed, undefined, 2), CAUSE_LIMIT_BYTES),
  }
}

/** Why a run was stopped, and whether from outside of this server. */
export function stopError({ error, cause }: Ending): RunError {
  const own = error === CANCELLED
  const by = own ? 'Stopped through this server' : 'Stopped outside of this server'
  return {
    code: error === undefined || error === '' ? 'ABORTED' : error,
    message: cause === undefined || cause === '' ? `${by}.` : `${by}: ${cutText(cause, CAUSE_LIMIT_BYTES)}`,
  }
}

export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
