import { createHmac, timingSafeEqual } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { RunbridgeError, type RunRef } from '@runbridge/core'
import * as z from 'zod'

export interface GitHubWebhookOptions {
  /** The webhook's secret, as it was given to GitHub. At least 16 characters. */
  readonly secret: string
  /** Told that something happened to a run: `TaskService.hint`. Awaited for some seconds before the delivery is acknowledged. */
  readonly hint: (query: { readonly run: RunRef }) => Promise<void>
  /** The largest body in bytes. Default 26,214,400, the most that GitHub sends. */
  readonly maxBodyBytes?: number | undefined
}

/** GitHub gives up on an answer after ten seconds; the read goes on. */
const ANSWER_MS = 5_000

const id = z.union([z.int(), z.string().regex(/^\d{1,20}$/)]).transform(String)
const attempt = z.int().min(1).nullish()
const run = z.object({ id, run_attempt: attempt })

/** https://docs.github.com/en/webhooks/webhook-events-and-payloads; of an event only the run that it is about. */
const EVENTS: Readonly<Record<string, (payload: unknown) => RunRef | undefined>> = {
  workflow_run: (payload) => ofRun(z.object({ workflow_run: run }).safeParse(payload).data?.workflow_run),
  workflow_job: (payload) => {
    const job = z
      .object({ workflow_job: z.object({ run_id: id, run_attempt: attempt }) })
      .safeParse(payload).data
    return job && ofRun({ id: job.workflow_job.run_id, run_attempt: job.workflow_job.run_attempt })
  },
  deployment_review: (payload) =>
    ofRun(z.object({ workflow_run: run }).safeParse(payload).data?.workflow_run),
}

function ofRun(found: z.output<typeof run> | undefined): RunRef | undefined {
  return found && { id: found.id, attempt: found.run_attempt ?? 1 }
}

/**
 * A route that takes GitHub's deliveries. They are hints to read a run now: what they say of it is not believed, so
 * that repeated, late and reordered ones change nothing else, and one of an unknown run is dropped.
 */
export function githubWebhook(options: GitHubWebhookOptions): (request: Request) => Promise<Response> {
  const { secret, hint, maxBodyBytes = 26_214_400 } = options
  if (secret.length < 16) {
    throw new RunbridgeError('misconfigured', 'The secret of the webhook needs at least 16 characters.')
  }
  return async (request) => {
    if (request.method !== 'POST') return answer(405, 'POST only', { allow: 'POST' })
    // Before the body, so that no strangers' megabytes are held for nothing.
    const signature = signatureOf(request)
    if (signature === undefined) return answer(401, 'not signed')
    const body = await bodyOf(request, maxBodyBytes)
    if (body === undefined) return answer(413, 'too large')
    if (!isSigned(body, signature, secret)) return answer(401, 'not signed')
    const event = request.headers.get('x-github-event') ?? ''
    if (!Object.hasOwn(EVENTS, event)) return answer(202, 'ignored')
    const found = EVENTS[event]?.(parsed(body))
    if (!found) return answer(422, 'no run in it')
    const read = hint({ run: found })
    await Promise.race([read, delay(ANSWER_MS, undefined, { ref: false })])
    read.catch(() => undefined)
    return answer(202, 'taken')
  }
}

/** https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries */
function signatureOf({ headers }: Request): Buffer | undefined {
  const [, hex] = /^sha256=([0-9a-f]{64})$/i.exec(headers.get('x-hub-signature-256') ?? '') ?? []
  return hex === undefined ? undefined : Buffer.from(hex, 'hex')
}

/** Over the raw body. */
function isSigned(body: Buffer, signature: Buffer, secret: string): boolean {
  return timingSafeEqual(signature, createHmac('sha256', secret).update(body).digest())
}

async function bodyOf(request: Request, most: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.length
    if (size > most) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** GitHub sends JSON, or a form with the JSON in it, as the webhook is set up; both are signed as they are. */
function parsed(body: Buffer): unknown {
  const text = body.toString('utf8')
  try {
    return JSON.parse(text.startsWith('payload=') ? (new URLSearchParams(text).get('payload') ?? '') : text)
  } catch {
    return undefined
  }
}

function answer(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(`${text}\n`, { status, headers: { 'content-type': 'text/plain', ...headers } })
}
