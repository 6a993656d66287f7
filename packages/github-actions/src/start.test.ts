import { expect, it } from 'vitest'
import { githubActions } from './backend.js'
import { createGitHubClients } from './clients.js'
import { workflowFile } from './testing/emulated-engine.js'
import { CI, context, createWorld } from './testing/world.js'

const plain = 'on: { workflow_dispatch: { inputs: { version: { type: string } } } }\njobs: {}\n'

it('asks for the id of the run and gets it', async () => {
  const { emulator, backend } = await createWorld()
  const result = await backend.start(CI, 'rb-1', { version: '1.2.3' }, context)
  expect(result).toEqual({ kind: 'started', run: { id: String(emulator.runs()[0]?.id), attempt: 1 } })
  expect(emulator.calls().dispatches).toEqual([
    { ref: 'main', inputs: { version: '1.2.3', runbridge_key: 'rb-1' }, return_run_details: true },
  ])
})

it('costs one request of the quota once the workflow file is known', async () => {
  const { backend, emulator } = await createWorld()
  await backend.describe(CI, context)
  emulator.resetCalls()
  expect((await backend.start(CI, 'rb-1', {}, context)).kind).toBe('started')
  expect(emulator.calls()).toMatchObject({ total: 3, costed: 1, notModified: 2 })
})

it('gets the id from a version of the API that always gives it', async () => {
  const { backend, emulator } = await createWorld({ dispatch: 'always' })
  expect((await backend.start(CI, 'rb-1', {}, context)).kind).toBe('started')
  expect(emulator.runs()).toHaveLength(1)
})

it('asks once more without the field that an older server refuses, and never asks for it again', async () => {
  const { backend, emulator } = await createWorld({ dispatch: 'none' })
  const first = await backend.start(CI, 'rb-1', {}, context)
  expect(first).toMatchObject({ kind: 'unknown', error: { code: 'unknown_outcome' } })
  await backend.start(CI, 'rb-2', {}, context)
  expect(emulator.calls().dispatches).toMatchObject([{ return_run_details: true }, {}, {}])
  expect(emulator.calls().dispatches.slice(1)).not.toContainEqual(
    expect.objectContaining({ return_run_details: true }),
  )
  const [run] = emulator.runs()
  expect(await backend.find(CI, 'rb-1', context)).toEqual({
    kind: 'found',
    run: { id: String(run?.id), attempt: 1 },
  })
})

it('sends nothing twice on any other refusal', async () => {
  const { backend, emulator } = await createWorld()
  for (const status of [400, 403, 404, 409, 422]) {
    emulator.resetCalls()
    emulator.faults.next('actions/create-workflow-dispatch', { kind: 'error', status, message: 'No.' })
    const result = await backend.start(CI, 'rb-1', {}, context)
    expect(result.kind).toBe('refused')
    expect(emulator.calls().dispatches).toHaveLength(1)
  }
})

it.each([500, 502, 503, 504])(
  'does not know what became of a dispatch answered %d, and sends it once',
  async (status) => {
    const { backend, emulator } = await createWorld()
    emulator.faults.next('actions/create-workflow-dispatch', { kind: 'status', status })
    expect((await backend.start(CI, 'rb-1', {}, context)).kind).toBe('unknown')
    expect(emulator.calls().dispatches).toHaveLength(1)
  },
)

it('does not take the page of a proxy for an answer of GitHub', async () => {
  const { backend, emulator } = await createWorld()
  emulator.faults.next('actions/create-workflow-dispatch', { kind: 'status', status: 404 })
  expect((await backend.start(CI, 'rb-1', {}, context)).kind).toBe('unknown')
})

it('finds a run whose answer was lost once GitHub shows it, and pays once for looking while nothing changed', async () => {
  const { backend, emulator } = await createWorld()
  emulator.faults.next('actions/create-workflow-dispatch', { kind: 'dropAfterExecuting' })
  expect((await backend.start(CI, 'rb-1', {}, context)).kind).toBe('unknown')
  emulator.resetCalls()
  for (let looks = 0; looks < 5; looks += 1) {
    expect(await backend.find(CI, 'rb-other', context)).toEqual({ kind: 'absent' })
  }
  expect(emulator.calls()).toMatchObject({ costed: 1, notModified: 4 })
  expect((await backend.find(CI, 'rb-1', context)).kind).toBe('found')
})

it('takes no title for the key that holds only a part of it or more', async () => {
  const { backend, emulator } = await createWorld()
  for (const title of ['CI rb-1x', 'CI xrb-1', 'CI rb-1-2', 'CI rb-']) {
    emulator.start('octo/shop', 'ci.yml', { event: 'workflow_dispatch', title })
  }
  expect(await backend.find(CI, 'rb-1', context)).toEqual({ kind: 'absent' })
  emulator.start('octo/shop', 'ci.yml', { event: 'workflow_dispatch', title: 'rb-1x and (rb-1)' })
  expect((await backend.find(CI, 'rb-1', context)).kind).toBe('found')
})

it('finds a run whatever way its ref is written, and asks for whole seconds', async () => {
  const asked: string[] = []
  const { backend, emulator, clock } = await createWorld({
    onExchange: ({ url }) => void asked.push(decodeURIComponent(url)),
  })
  emulator.start('octo/shop', 'ci.yml', { event: 'workflow_dispatch', title: 'CI rb-1' })
  const workflow = { ...CI, refs: ['refs/heads/main'] }
  const result = await backend.find(workflow, 'rb-1', { ...context, since: clock.now() + 123 })
  expect(result.kind).toBe('found')
  expect(asked.join()).toMatch(/created=>=[\dT:-]+Z&/)
})

it('never chooses among two runs with the key, and looks at no other event or workflow', async () => {
  const { backend, emulator } = await createWorld({
    repository: {
      workflows: { 'ci.yml': { file: workflowFile('a: {}') }, 'other.yml': { file: workflowFile('a: {}') } },
    },
  })
  const elsewhere = { event: 'workflow_dispatch', title: 'CI rb-1' }
  emulator.start('octo/shop', 'other.yml', elsewhere)
  emulator.start('octo/shop', 'ci.yml', { ...elsewhere, event: 'push' })
  const ids = [1, 2].map(() => String(emulator.start('octo/shop', 'ci.yml', elsewhere)))
  const result = await backend.find(CI, 'rb-1', context)
  expect(result.kind).toBe('ambiguous')
  if (result.kind === 'ambiguous') expect(result.runs.map(({ id }) => id).sort()).toEqual(ids.sort())
})

it('finds a run behind more than one page of others, and does not look before the start', async () => {
  const { backend, emulator, clock } = await createWorld()
  await backend.start(CI, 'rb-1', {}, context)
  clock.pass(3_600_000)
  for (let each = 0; each < 230; each += 1) {
    emulator.start('octo/shop', 'ci.yml', { event: 'workflow_dispatch', title: `CI ${each}` })
  }
  expect((await backend.find(CI, 'rb-1', context)).kind).toBe('found')
  expect(await backend.find(CI, 'rb-1', { ...context, since: clock.now() })).toEqual({ kind: 'absent' })
})

it('says how to make runs findable where they are not', async () => {
  const { backend, emulator } = await createWorld({ file: plain, dispatch: 'none' })
  const { capabilities, inputSchema } = await backend.describe(CI, context)
  expect(capabilities.start).toBe('blind')
  expect(inputSchema).toMatchObject({ properties: { version: { type: 'string' } } })
  expect((await backend.start(CI, 'rb-1', { version: '1' }, context)).kind).toBe('unknown')
  expect(emulator.runs()[0]?.inputs).toEqual({ version: '1' })
  const result = await backend.find(CI, 'rb-1', context)
  expect(result).toMatchObject({ kind: 'absent', hint: expect.stringContaining('run-name') })
})

it('runs only refs of the list, the first by default, with the inputs that the file has there', async () => {
  const file = {
    main: workflowFile('version: { type: string }', 'CI'),
    next: workflowFile('build: { type: string, required: true }', 'CI'),
    secret: workflowFile('version: { type: string }', 'CI'),
  }
  const { backend, emulator } = await createWorld({
    repository: { workflows: { 'ci.yml': { file } }, refs: ['next', 'secret'] },
  })
  const workflow = { ...CI, refs: ['main', 'next'] }
  const { inputSchema } = await backend.describe(workflow, context)
  expect(inputSchema?.properties).toMatchObject({ ref: { enum: ['main', 'next'], default: 'main' } })
  const start = (input: object) => backend.start(workflow, 'rb-1', { ...input }, context)
  expect((await start({ version: '1' })).kind).toBe('started')
  expect((await start({ ref: 'next', build: '7' })).kind).toBe('started')
  expect(emulator.runs().map(({ ref }) => ref)).toEqual(['main', 'next'])
  expect(await start({ ref: 'secret' })).toMatchObject({ kind: 'refused', error: { code: 'invalid_input' } })
  const other = await start({ ref: 'next', version: '1' })
  expect(other).toMatchObject({ kind: 'refused', error: { code: 'invalid_input' } })
  if (other.kind === 'refused') expect(other.error.message).toMatch(/version is no input.*build is missing/)
  expect(emulator.runs()).toHaveLength(2)
})

it('starts by an event of the repository, and finds the run by its key', async () => {
  const file = `run-name: Deploy \${{ github.event.client_payload.runbridge_key }}\non: { repository_dispatch: { types: [deploy] } }\njobs: {}\n`
  const { backend, emulator } = await createWorld({ file })
  const workflow = { ...CI, repositoryDispatch: 'deploy' }
  expect((await backend.describe(workflow, context)).capabilities.start).toBe('findable')
  expect((await backend.start(workflow, 'rb-1', { version: 2, deep: { a: [1] } }, context)).kind).toBe(
    'unknown',
  )
  expect(emulator.runs()[0]).toMatchObject({
    event: 'repository_dispatch',
    inputs: { version: 2, deep: { a: [1] }, runbridge_key: 'rb-1' },
  })
  expect((await backend.find(workflow, 'rb-1', context)).kind).toBe('found')
  const many = Object.fromEntries(Array.from({ length: 10 }, (_, each) => [`a${each}`, each]))
  expect(await backend.start(workflow, 'rb-2', many, context)).toMatchObject({
    kind: 'refused',
    error: { code: 'too_large' },
  })
  const wrong = backend.describe({ ...CI, repositoryDispatch: 'other' }, context)
  await expect(wrong).rejects.toMatchObject({ code: 'misconfigured' })
})

it('refuses what does not fit before anything is sent', async () => {
  const { backend, emulator } = await createWorld()
  const result = await backend.start(CI, 'rb-1', { version: 'x'.repeat(65_600) }, context)
  expect(result).toMatchObject({ kind: 'refused', error: { code: 'too_large' } })
  expect(emulator.calls().dispatches).toEqual([])
})

it('starts nothing that is disabled, has no trigger or is only watched', async () => {
  const { backend, emulator } = await createWorld({
    repository: {
      workflows: {
        'ci.yml': { file: plain, state: 'disabled_manually' },
        'push.yml': { file: 'on: push\njobs: {}\n' },
      },
    },
  })
  await expect(backend.describe(CI, context)).rejects.toMatchObject({ code: 'misconfigured' })
  for (const id of ['octo/shop/ci.yml', 'octo/shop/push.yml', 'octo/shop/*']) {
    expect((await backend.start({ id }, 'rb-1', {}, context)).kind).toBe('refused')
  }
  expect(emulator.runs()).toEqual([])
})

it('says of a dispatch that still waited in the queue that nothing was sent', async () => {
  const { emulator } = await createWorld()
  const clients = await createGitHubClients({ credentials: { token: 't' }, baseUrl: emulator.url })
  const backend = githubActions({ clients })
  expect((await backend.start(CI, 'rb-1', {}, context)).kind).toBe('started')
  const leaving = new AbortController()
  const waiting = backend.start(CI, 'rb-2', {}, { ...context, signal: leaving.signal })
  await expect.poll(() => emulator.calls().byOperation['repos/get-content']).toBe(2)
  leaving.abort()
  expect(await waiting).toMatchObject({ kind: 'refused' })
  expect((await backend.start(CI, 'rb-3', {}, context)).kind).toBe('started')
  expect(emulator.runs().map(({ title }) => title)).toEqual(['CI rb-1', 'CI rb-3'])
})

it('does nothing through a redirect to another host, and follows one to the new name with the same method', async () => {
  const { backend, emulator, warnings } = await createWorld()
  emulator.rename('octo/shop', 'octo/store')
  expect((await backend.start(CI, 'rb-1', {}, context)).kind).toBe('started')
  expect(emulator.runs()[0]).toMatchObject({ repository: 'octo/store', event: 'workflow_dispatch' })
  expect(warnings.join()).toContain('new name')
})
