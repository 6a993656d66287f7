import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { loadConfig } from './config.js'

it('the example in the repository is right', async () => {
  const file = fileURLToPath(new URL('../../../../examples/runbridge.yaml', import.meta.url))
  const config = await loadConfig(file, { PORT: '9090' })
  expect(config.server.port).toBe(9090)
  expect(config.tools.map(({ name }) => name)).toEqual(['place_order', 'deploy'])
})
