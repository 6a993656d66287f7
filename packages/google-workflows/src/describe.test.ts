import { describe, expect, it } from 'vitest'
import { googleWorkflows } from './backend.js'
import { CAPABILITIES } from './describe.js'
import { emulated } from './testing/emulated.js'
import { context, scriptedClients, WORKFLOW } from './testing/scripted-clients.js'
import type { GoogleWorkflow } from './workflow.js'

function described(binding: Partial<GoogleWorkflow> = {}, resource: object = { revisionId: '000002-b' }) {
  const warnings: string[] = []
  const clients = scriptedClients({ rest: { resource: resource as never } })
  const backend = googleWorkflows({ clients, warn: (message) => warnings.push(message) })
  return { warnings, description: backend.describe({ id: WORKFLOW, ...binding }, context) }
}

describe('describe', () => {
  it('tells what Google knows: description, revision, console', async () => {
    const resource = { description: 'Rolls a version out.', revisionId: '000002-b' }
    expect(await described({}, resource).description).toEqual({
      title: 'deploy',
      description: 'Rolls a version out.',
      revision: '000002-b',
      consoleUrl:
        'https://console.cloud.google.com/workflows/workflow/europe-west1/deploy/executions?project=shop',
      capabilities: CAPABILITIES,
    })
    expect(await described({}, {}).description).not.toHaveProperty('description')
  })

  it('tells the operator of a pinned revision that is not deployed', async () => {
    const { warnings, description } = described({ revision: '000001-a' })
    expect((await description).revision).toBe('000002-b')
    expect(warnings).toEqual([expect.stringContaining('it will refuse to start')])
  })

  it('refuses a binding that could not be asked, answered or started', async () => {
    const schema = { type: 'object', properties: { nested: { type: 'object' } } }
    for (const binding of [
      { id: 'deploy' },
      { labels: { Team: 'x' } },
      { gates: { approve: { schema } } },
      { gates: { approve: { urlVariable: 'details.url' } } },
      { historyLevel: 'basic', gates: { approve: { result: 'answer' } } },
    ] as Partial<GoogleWorkflow>[]) {
      await expect(described(binding).description).rejects.toMatchObject({ code: 'misconfigured' })
    }
  })
})

describe('discover', () => {
  it('lists a location to the last page, by label', async () => {
    const names = Array.from({ length: 501 }, (_, index) => `w${index}`)
    const { backend, emulator } = await emulated({
      workflows: Object.fromEntries(
        names.map((name) => [name, { steps: [], labels: { team: name === 'w7' ? 'b' : 'a' } }]),
      ),
    })
    const where = { project: emulator.project, location: emulator.location }
    const found = async (filter: object) => {
      const ids: string[] = []
      for await (const { id } of backend.discover!({ ...where, ...filter }, context)) ids.push(id)
      return ids
    }
    expect(await found({})).toEqual(names.map((name) => emulator.workflowName(name)))
    expect(await found({ labels: { team: 'b' } })).toEqual([emulator.workflowName('w7')])
    await expect(found({ location: 1 })).rejects.toMatchObject({ code: 'misconfigured' })
  })
})
