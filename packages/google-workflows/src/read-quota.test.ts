import { expect, it } from 'vitest'
import { googleWorkflows } from './backend.js'
import { scriptedClients } from './testing/scripted-clients.js'

const quotaOf = (id: string, readsPerSecond?: number) =>
  googleWorkflows({ clients: scriptedClients({}), readsPerSecond }).readQuota?.({ id })

it('the workflows of a project share one quota of looks, whatever their location', () => {
  const [here, there, elsewhere] = [
    'a/locations/l1/workflows/w',
    'a/locations/l2/workflows/v',
    'b/locations/l1/workflows/w',
  ].map((place) => quotaOf(`projects/${place}`))
  expect(here).toEqual({ name: 'google-workflows a', perSecond: 50 })
  expect(there).toEqual(here)
  expect(elsewhere?.name).not.toBe(here?.name)
  expect(quotaOf('projects/a/locations/l1/workflows/w', 2)?.perSecond).toBe(2)
})
