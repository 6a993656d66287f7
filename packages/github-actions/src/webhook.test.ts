import { createHmac } from 'node:crypto'
import type { RunRef } from '@runbridge/core'
import { describe, expect, it, vi } from 'vitest'
import { createWorld } from './testing/world.js'
import { githubWebhook } from './webhook.js'

const secret = 'a-secret-of-the-webhook'

function route() {
  const hints: RunRef[] = []
  const handle = githubWebhook({ secret, hint: async ({ run }) => void hints.push(run) })
  return { handle, hints }
}

function post(body: string, headers: Record<string, string> = {}): Request {
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  return new Request('http://localhost/webhooks/github', {
    method: 'POST',
    body,
    headers: { 'x-github-event': 'workflow_run', 'x-hub-signature-256': signature, ...headers },
  })
}
const run = JSON.stringify({ action: 'completed', workflow_run: { id: 12345678901, run_attempt: 2 } })

it('takes what the stand-in signs, for each of the three events, and each as often as it comes', async () => {
  const { handle, hints } = route()
  const { emulator, started } = await createWorld({
    script: { jobs: [{ name: 'test', steps: [{ name: 'Test', ms: 1_000 }] }] },
  })
  const { id } = await started()
  for (const event of ['workflow_run', 'workflow_job', 'deployment_review', 'workflow_run'] as const) {
    const { headers, body } = emulator.delivery(Number(id), event, secret)
    expect((await handle(new Request('http://x/', { method: 'POST', headers, body }))).status).toBe(202)
  }
  expect(hints).toEqual(Array(4).fill({ id, attempt: 1 }))
})

it('reads no body that nobody signed', async () => {
  const { handle } = route()
  const read = vi.fn((controller: ReadableStreamDefaultController) => controller.close())
  const body = new ReadableStream({ pull: read }, { highWaterMark: 0 })
  const sent = { method: 'POST', body, duplex: 'half' } as RequestInit
  expect((await handle(new Request('http://x/', sent))).status).toBe(401)
  expect(read).not.toHaveBeenCalled()
})

describe('refuses, and gives no hint for', () => {
  it.each<[string, Request, number]>([
    ['another method', new Request('http://x/'), 405],
    ['no signature', post(run, { 'x-hub-signature-256': '' }), 401],
    ['a forged one', post(run, { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }), 401],
    ['the old kind', post(run, { 'x-hub-signature-256': `sha1=${'0'.repeat(40)}` }), 401],
    ['a short one', post(run, { 'x-hub-signature-256': 'sha256=00' }), 401],
    ['what is no JSON', post('{'), 422],
    ['no run', post('{"workflow_run":{"id":"../x"}}'), 422],
    ['other events', post(run, { 'x-github-event': 'push' }), 202],
    ['names of members', post(run, { 'x-github-event': 'constructor' }), 202],
  ])('%s', async (_, request, status) => {
    const { handle, hints } = route()
    expect((await handle(request)).status).toBe(status)
    expect(hints).toEqual([])
  })

  it('a body that was changed after it was signed', async () => {
    const { handle, hints } = route()
    const signed = post(run).headers
    const changed = new Request('http://x/', { method: 'POST', body: run.replace('2', '3'), headers: signed })
    expect((await handle(changed)).status).toBe(401)
    expect(hints).toEqual([])
  })

  it('more than GitHub sends', async () => {
    const handle = githubWebhook({ secret, hint: () => Promise.reject(new Error('hint')), maxBodyBytes: 10 })
    expect((await handle(post(run))).status).toBe(413)
  })
})

it('takes a form as well, signed as it is', async () => {
  const { handle, hints } = route()
  const response = await handle(post(`payload=${encodeURIComponent(run)}`))
  expect([response.status, hints]).toEqual([202, [{ id: '12345678901', attempt: 2 }]])
})

it('wants a secret that is one', () => {
  expect(() => githubWebhook({ secret: 'short', hint: async () => undefined })).toThrow('16 characters')
})
