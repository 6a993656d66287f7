import { type GitHubEmulator, startGitHubEmulator } from '@runbridge/emulators/github'
import type { Tool } from '@runbridge/server'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { compose } from '../compose.js'
import { resolveTools } from '../compose-of.js'
import { parseConfig } from '../config/config.js'
import { openEngines } from '../engines.js'

const FILE = `
name: Deploy
run-name: Deploy \${{ inputs.version }} \${{ inputs.runbridge_key }}
on:
  workflow_dispatch:
    inputs:
      version: { type: string, required: true, description: What to deploy }
      runbridge_key: { type: string }
jobs: {}
`
const SECRET = 'a-secret-of-the-webhook'
const signal = new AbortController().signal
let github: GitHubEmulator
beforeAll(async () => {
  github = await startGitHubEmulator({
    repositories: { 'octo/shop': { workflows: { 'deploy.yml': { file: FILE } } } },
  })
})
afterAll(() => github.close())

function config(engine: string, tool = '') {
  const text = `
store: { memory: {} }
engines: ${engine}
tools:
  - name: deploy
    description: Deploys.
    githubActions: { owner: octo, repo: shop, workflow: deploy.yml }
    ${tool}
`
  const parsed = parseConfig(text, { GITHUB_API: github.url })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  return parsed.config
}
const ENGINE = `{ githubActions: { token: a-token, baseUrl: "\${GITHUB_API}", pacing: false, webhook: { secret: ${SECRET} } } }`

it('makes a tool of a workflow file, with its inputs, and takes deliveries of its runs', async () => {
  const composition = await compose(config(ENGINE), { signal })
  onTestFinished(() => composition.close())
  const { server, tools, routes } = composition
  expect(tools[0]).toMatchObject({
    title: 'Deploy',
    capabilities: { start: 'findable', gates: false },
    inputSchema: { properties: { version: { description: 'What to deploy' } }, required: ['version'] },
  })
  const request = { owner: 'local', tool: 'deploy', form: 'ext-tasks', input: { version: '1' } } as const
  const outcome = await server.service.create(request)
  if (outcome.kind !== 'task') throw new Error(outcome.error.message)
  const { record } = outcome.task
  const ended = new Promise((resolve) =>
    server.service.subscribe(record, (task) => resolve(task.record.state)),
  )
  const { headers, body } = github.delivery(Number(record.run?.id), 'workflow_run', SECRET)
  const delivered = await routes[0]?.handle(new Request('http://x/', { method: 'POST', headers, body }))
  expect([routes[0]?.path, delivered?.status]).toEqual(['/webhooks/github', 202])
  expect(await ended).toBe('succeeded')
})

it.each([
  ['a credential', '{}', '', '`engines.githubActions`'],
  ['a reviewer', ENGINE, 'humanInput: elicitation', '`engines.githubActions.reviewer`'],
])('says where %s is missing', async (_, engine, tool, where) => {
  await expect(compose(config(engine, tool), { signal })).rejects.toMatchObject({
    code: 'misconfigured',
    message: expect.stringContaining(where),
  })
})

it('names the permissions of the server and of the reviewer', async () => {
  const reviewed = ENGINE.replace('pacing', 'reviewer: { token: another }, pacing')
  const { engines: engineConfig, tools } = config(reviewed, 'humanInput: elicitation')
  const engines = openEngines(engineConfig, {})
  const [resolved] = await resolveTools({ ...config(reviewed), tools }, engines, { signal })
  const bound = await engines.bind(tools[0]!)
  const reports = await bound.access(resolved!.outcome, signal)
  expect(reports).toContainEqual({
    permission: 'Actions: write',
    resource: 'octo/shop',
    why: 'dispatches the workflow',
    access: 'allowed',
  })
  expect(reports.map(({ resource }) => resource)).toContain('octo/shop, as the reviewer')
})

it.each([
  ['', 'Runs show their key: tasks optional, asks nobody'],
  ['attach: true', 'Watches runs: tasks optional, asks nobody'],
])('says of a tool with "%s" how it runs', async (more, described) => {
  const { engines: engineConfig, tools } = config(ENGINE, more)
  const engines = openEngines(engineConfig, {})
  const [resolved] = await resolveTools({ ...config(ENGINE), tools }, engines, { signal })
  const bound = await engines.bind(tools[0]!)
  expect(await bound.describe(resolved!.outcome as Tool, signal)).toBe(described)
})
