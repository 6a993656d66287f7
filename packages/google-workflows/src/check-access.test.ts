import { describe, expect, it } from 'vitest'
import { checkAccess } from './check-access.js'
import { createGoogleWorkflowsClients } from './clients.js'
import { FEATURES, PERMISSIONS, permissionsFor } from './permissions.js'
import { emulated } from './testing/emulated.js'
import { context } from './testing/scripted-clients.js'

const WITH_EFFECT = ['workflows.executions.create', 'workflows.callbacks.send']

describe('the permissions of a tool', () => {
  it('are each tried without an effect, or said to be unsure', async () => {
    const { emulator } = await emulated({ workflows: { deploy: { steps: [] } } })
    const clients = await createGoogleWorkflowsClients({ endpoint: emulator.url })
    const reports = await checkAccess(clients, emulator.workflowName('deploy'), FEATURES, context)
    await clients.close()
    expect(reports.map(({ permission, access }) => [permission, access])).toEqual(
      permissionsFor(FEATURES).map(({ permission }) => [
        permission,
        WITH_EFFECT.includes(permission) ? 'unsure' : 'allowed',
      ]),
    )
    expect(emulator.executions()).toEqual([])
    expect(emulator.calls().byOperation.CreateExecution).toBeUndefined()
  })

  it('are named where they are missing', async () => {
    const { emulator } = await emulated({ workflows: { deploy: { steps: [] } } })
    emulator.faults.always('*', { kind: 'denied' })
    const clients = await createGoogleWorkflowsClients({ endpoint: emulator.url, transport: 'rest' })
    const reports = await checkAccess(clients, emulator.workflowName('deploy'), ['gates', 'cancel'], context)
    await clients.close()
    expect(reports.map(({ permission, access }) => [permission, access])).toEqual([
      ['workflows.callbacks.list', 'missing'],
      ['workflows.callbacks.send', 'unsure'],
      ['workflows.executions.get', 'missing'],
      ['workflows.executions.cancel', 'missing'],
    ])
  })

  it('are listed once, whatever features need them', () => {
    const all = permissionsFor(FEATURES).map(({ permission }) => permission)
    expect(new Set(all).size).toBe(all.length)
    expect(Object.keys(PERMISSIONS).sort()).toEqual([...FEATURES].sort())
  })
})
