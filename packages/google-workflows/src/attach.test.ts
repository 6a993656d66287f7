import { describe, expect, it } from 'vitest'
import { googleWorkflows } from './backend.js'
import { context, EXECUTION, failure, scriptedClients, WORKFLOW } from './testing/scripted-clients.js'

const attached = { kind: 'attached', run: { id: EXECUTION, attempt: 0 } }
const CONSOLE = 'https://console.cloud.google.com/workflows/workflow'

function attach(reference: string, get: object | Error = { name: EXECUTION }, resource: object = {}) {
  const clients = scriptedClients({ get: get as never, rest: { resource: resource as never } })
  return { clients, result: googleWorkflows({ clients }).attach!({ id: WORKFLOW }, reference, context) }
}

describe('attach', () => {
  for (const reference of [
    EXECUTION,
    ` ${EXECUTION} `,
    EXECUTION.replace('projects/shop', 'projects/123456'),
    `${CONSOLE}/europe-west1/deploy/execution/e-1/summary?project=shop`,
    `${CONSOLE}/europe-west1/deploy/execution/e-1?authuser=1&project=shop#steps`,
  ]) {
    it(`takes ${reference}`, async () => {
      expect(await attach(reference).result).toEqual(attached)
    })
  }

  for (const reference of [
    '',
    'e-1',
    WORKFLOW,
    EXECUTION.replace('shop', 'bank'),
    EXECUTION.replace('europe-west1', 'us-central1'),
    EXECUTION.replace('deploy', 'delete'),
    `${EXECUTION}/callbacks/c`,
    `${CONSOLE}/europe-west1/deploy/execution/e-1/summary?project=bank`,
    `${CONSOLE}/europe-west1/deploy/execution/e-1/summary`,
    `https://evil.example/workflows/workflow/europe-west1/deploy/execution/e-1?project=shop`,
  ]) {
    it(`refuses ${reference || 'nothing'} without asking Google`, async () => {
      const { clients, result } = attach(reference)
      expect(await result).toMatchObject({ kind: 'refused', error: { code: 'invalid_input' } })
      expect(clients.sent).toEqual([])
    })
  }

  it('tells a run that is gone from one that can not be read', async () => {
    expect(await attach(EXECUTION, failure('NOT_FOUND')).result).toMatchObject({
      kind: 'refused',
      error: { code: 'invalid_input' },
    })
    expect(await attach(EXECUTION, failure('NOT_FOUND'), failure('PERMISSION_DENIED')).result).toMatchObject({
      kind: 'refused',
      error: { code: 'denied' },
    })
  })
})
