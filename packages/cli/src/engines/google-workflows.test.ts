import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type GoogleWorkflowsEmulator, startGoogleWorkflowsEmulator } from '@runbridge/emulators/google'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { check } from '../commands/check.js'
import { compose } from '../compose.js'
import { loadConfig } from '../config/config.js'

let google: GoogleWorkflowsEmulator
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runbridge-google-'))
  google = await startGoogleWorkflowsEmulator({
    workflows: { deploy: { description: 'Rolls out.', revisionId: '000002-b', steps: [] } },
  })
})
afterEach(async () => {
  await google.close()
  await rm(folder, { recursive: true, force: true })
})

/** A file with one tool. @param more keys of its workflow */
async function config(more = ''): Promise<string> {
  const file = join(folder, 'runbridge.yaml')
  const lines = [
    'store: { memory: {} }',
    `engines: { googleWorkflows: { endpoint: "${google.url}" } }`,
    'tools:',
    '  - name: deploy',
    `    googleWorkflows: { project: local, location: us-central1, workflow: deploy${more} }`,
  ]
  await writeFile(file, lines.join('\n'))
  return file
}

async function checked(more = '') {
  const lines: string[] = []
  const io = { out: (line: string) => void lines.push(line), err: (line: string) => void lines.push(line) }
  const status = await check({ config: await config(more), signal: AbortSignal.timeout(10_000) }, io)
  return { status, text: lines.join('\n') }
}

describe('a tool of Google Workflows', () => {
  it('takes its description from the workflow and its binding from the file', async () => {
    const file = await config(', labels: { team: ops }, historyLevel: basic, callLogLevel: none')
    const { tools, close } = await compose(await loadConfig(file, {}), {
      signal: AbortSignal.timeout(10_000),
    })
    await close()
    expect(tools).toMatchObject([
      {
        name: 'deploy',
        description: 'Rolls out.',
        inputSchema: { type: 'object' },
        workflow: {
          id: google.workflowName('deploy'),
          labels: { team: 'ops' },
          historyLevel: 'basic',
          callLogLevel: 'none',
        },
        capabilities: { start: 'findable' },
      },
    ])
  })

  it('is checked: its revision is shown, its permissions are tried, and nothing starts', async () => {
    const { status, text } = await checked()
    expect(status).toBe(0)
    expect(text).toContain(`deploy  ${google.workflowName('deploy')}`)
    expect(text).toContain('ok       revision 000002-b: tasks optional, asks nobody')
    expect(text).toContain('allowed  workflows.executions.get')
    expect(text).toMatch(/unsure +workflows\.executions\.create on .*; it can not be tried without an effect/)
    expect(google.executions()).toEqual([])
  })

  it('is checked where permissions are missing', async () => {
    google.faults.always('CancelExecution', { kind: 'denied' })
    const { status, text } = await checked()
    expect(status).toBe(1)
    expect(text).toMatch(/MISSING +workflows\.executions\.cancel on .*; for: stops the run/)
  })

  it('is checked where the workflow is not there', async () => {
    google.faults.always('GetWorkflow', { kind: 'error', status: 'NOT_FOUND' })
    const { status, text } = await checked()
    expect(status).not.toBe(0)
    expect(text).toContain('problem  Google does not show')
  })
})
