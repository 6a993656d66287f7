import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { loadConfig } from './config.js'

it.each([
  ['runbridge.yaml', ['place_order', 'deploy']],
  ['pipelines.yaml', ['build', 'deploy', 'watch_ci']],
])('the example %s in the repository is right', async (name, tools) => {
  const file = fileURLToPath(new URL(`../../../../examples/${name}`, import.meta.url))
  const config = await loadConfig(file, { PORT: '9090', GITHUB_TOKEN: 'one', REVIEWER_TOKEN: 'another' })
  expect(config.server.port).toBe(name === 'runbridge.yaml' ? 9090 : 8080)
  expect(config.tools.map((tool) => tool.name)).toEqual(tools)
})
