import { createHmac } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { type GitHubEmulatorOptions, startGitHubEmulator } from './emulator.js'
import type { WorkflowScript } from './script.js'
import { zipOf } from './zip.js'

const FILE = `
name: Deploy
run-name: Deploy \${{ inputs.version }} by \${{ github.event.inputs.who }}
on: { workflow_dispatch: { inputs: { version: { required: true }, who: { default: nobody } } } }
`

async function emulated(script: WorkflowScript = {}, options: Partial<GitHubEmulatorOptions> = {}) {
  let now = Date.UTC(2026, 0, 2)
  const emulator = await startGitHubEmulator({
    repositories: {
      'octo/shop': {
        environments: { production: { reviewers: ['octocat'] } },
        workflows: { 'deploy.yml': { file: FILE, script } },
      },
    },
    now: () => now,
    ...options,
  })
  onTestFinished(() => emulator.close())
  async function ask(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const response = await fetch(`${emulator.url}${path}`, {
      method,
      redirect: 'manual',
      headers: { authorization: 'Bearer t', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const json = text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text
    return { status: response.status, headers: response.headers, body: json }
  }
  const dispatch = (inputs: object, more = {}) =>
    ask('POST', '/repos/octo/shop/actions/workflows/deploy.yml/dispatches', { ref: 'main', inputs, ...more })
  const start = async () => {
    const { body } = await dispatch({ version: '1' }, { return_run_details: true })
    return `/repos/octo/shop/actions/runs/${body.workflow_run_id}`
  }
  return { emulator, ask, dispatch, start, pass: (ms: number) => (now += ms) }
}

it('answers a dispatch in each of the three ways, and refuses what the workflow does not take', async () => {
  const { emulator, dispatch } = await emulated()
  const details = { return_run_details: true }
  expect((await dispatch({ version: '1' })).status).toBe(204)
  expect((await dispatch({ version: '1' }, details)).body).toHaveProperty('workflow_run_id')
  expect((await dispatch({})).body.message).toBe("Required input 'version' not provided")
  expect((await dispatch({ version: '1', x: '1' })).body.message).toContain('Unexpected inputs')
  expect((await dispatch({ version: '1' }, { ref: 'gone' })).body.message).toBe('No ref found for: gone')
  emulator.setDispatch('none')
  expect((await dispatch({ version: '1' }, details)).body.message).toContain('not a permitted key')
  expect((await dispatch({ version: '1' })).status).toBe(204)
  emulator.setDispatch('always')
  expect((await dispatch({ version: '1' })).status).toBe(200)
  expect(emulator.runs().map(({ title }) => title)).toEqual(Array(4).fill('Deploy 1 by nobody'))
})

it('a run goes by its script and the clock, waits for its reviewer, and ends', async () => {
  const { start, ask, pass } = await emulated(({ reviews }) => ({
    queuedMs: 1000,
    jobs: [
      { name: 'build', steps: [{ name: 'Build', ms: 2000 }] },
      { name: 'deploy', needs: ['build'], environment: 'production', steps: [{ name: 'Go', ms: 2000 }] },
    ],
    artifacts: [{ name: 'result', content: { 'r.json': JSON.stringify(reviews[0]?.comment) } }],
  }))
  const run = await start()
  const status = async () => {
    const { body } = await ask('GET', run)
    return body.conclusion ?? body.status
  }
  const seen = [await status()]
  for (const ms of [1000, 2000]) {
    pass(ms)
    seen.push(await status())
  }
  const { body: pending } = await ask('GET', `${run}/pending_deployments`)
  expect(pending).toMatchObject([{ environment: { name: 'production' }, current_user_can_approve: true }])
  const review = { environment_ids: [pending[0].environment.id], state: 'approved', comment: 'go' }
  expect((await ask('POST', `${run}/pending_deployments`, review)).status).toBe(200)
  expect((await ask('POST', `${run}/pending_deployments`, review)).status).toBe(422)
  seen.push(await status())
  pass(2000)
  seen.push(await status())
  expect(seen).toEqual(['queued', 'in_progress', 'waiting', 'in_progress', 'success'])
  expect((await ask('POST', `${run}/cancel`)).status).toBe(409)
  const { body: list } = await ask('GET', `${run}/artifacts`)
  const redirected = await ask('GET', new URL(list.artifacts[0].archive_download_url).pathname)
  const location = redirected.headers.get('location') ?? ''
  expect(redirected.status).toBe(302)
  expect((await fetch(location, { headers: { authorization: 'Bearer t' } })).status).toBe(400)
  const zipped = Buffer.from(await (await fetch(location)).arrayBuffer())
  expect(zipped).toEqual(zipOf({ 'r.json': '"go"' }))
})

it('counts what costs quota, and refuses what is over it', async () => {
  const { start, ask, emulator, pass } = await emulated({}, { requestsPerHour: 3 })
  const run = await start()
  const first = await ask('GET', run)
  const tag = { 'if-none-match': first.headers.get('etag') ?? '' }
  for (let each = 0; each < 5; each += 1) expect((await ask('GET', run, undefined, tag)).status).toBe(304)
  expect((await ask('GET', run, undefined, { ...tag, authorization: 'Bearer other' })).status).toBe(200)
  expect(first.headers.get('x-ratelimit-remaining')).toBe('1')
  expect((await ask('GET', `${run}/artifacts`)).status).toBe(200)
  const over = await ask('GET', `${run}/approvals`)
  expect([over.status, over.headers.get('x-ratelimit-remaining')]).toEqual([403, '0'])
  expect(emulator.calls()).toMatchObject({ notModified: 5, total: 10 })
  pass(3_600_000)
  expect((await ask('GET', `${run}/approvals`)).status).toBe(200)
})

it('shows a token what it may see, and where a repository went', async () => {
  const tokens = {
    t: { login: 'a' },
    reader: { login: 'b', permissions: { actions: 'read' } },
    blind: { login: 'c', repositories: [] },
  } as const
  const { start, ask, emulator } = await emulated({}, { tokens })
  const run = await start()
  const as = (token: string) => ({ authorization: `Bearer ${token}` })
  expect((await ask('GET', run, undefined, as('reader'))).status).toBe(200)
  expect((await ask('POST', `${run}/cancel`, undefined, as('reader'))).status).toBe(403)
  expect((await ask('GET', run, undefined, as('blind'))).status).toBe(404)
  expect((await ask('GET', run, undefined, as('nobody'))).status).toBe(401)
  emulator.rename('octo/shop', 'octo/store')
  const moved = await ask('GET', `${run}?a=b`)
  expect([moved.status, moved.headers.get('location')]).toEqual([
    301,
    expect.stringMatching(/\/repositories\/\d+\/actions\/runs\/\d+\?a=b$/),
  ])
  expect((await ask('POST', `${run}/cancel`)).status).toBe(307)
  expect((await ask('GET', new URL(moved.headers.get('location') ?? '').pathname)).status).toBe(200)
})

it('plays faults in order, also when another process sets them', async () => {
  const { ask, dispatch, emulator } = await emulated()
  const set = (body: object) => ask('POST', '/_emulator/faults', body)
  const operation = 'actions/create-workflow-dispatch'
  expect((await set({ operation: 'nonsense', next: [] })).status).toBe(400)
  await set({ operation, next: [{ kind: 'denied' }, { kind: 'secondaryLimit', retryAfter: 7 }] })
  expect((await dispatch({ version: '1' })).status).toBe(403)
  expect((await dispatch({ version: '1' })).headers.get('retry-after')).toBe('7')
  await set({ operation, always: { kind: 'status', status: 502 } })
  expect((await dispatch({ version: '1' })).status).toBe(502)
  await set({ clear: true })
  emulator.faults.next(operation, { kind: 'dropAfterExecuting' })
  await expect(dispatch({ version: '1' })).rejects.toThrow()
  expect((await ask('GET', '/_emulator/runs')).body).toMatchObject([{ title: 'Deploy 1 by nobody' }])
  expect((await ask('GET', '/_emulator/calls')).body.byOperation).toEqual({ [operation]: 4 })
})

it('signs what a webhook gets', async () => {
  const { emulator } = await emulated()
  const id = emulator.start('octo/shop', 'deploy.yml')
  const { body, headers } = emulator.delivery(id, 'workflow_run', 'secret')
  expect(JSON.parse(body)).toMatchObject({ action: 'completed', workflow_run: { id, conclusion: 'success' } })
  const signature = createHmac('sha256', 'secret').update(body).digest('hex')
  expect(headers['x-hub-signature-256']).toBe(`sha256=${signature}`)
})
