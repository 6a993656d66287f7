// From the start of a process to its first answer: `runbridge serve` beside a bare server on the same SDK.
import { writeFileSync } from 'node:fs'
import { startStepFunctionsEmulator } from '@runbridge/emulators/step-functions'
import { mcpRequest } from '../bin/mcp-request.mjs'
import { serve } from '../bin/serve.mjs'
import { child, figure, median } from './measure.mjs'

const TIMES = 3

/**
 * @param {string} folder for files
 * @returns {Promise<import('./measure.mjs').Figure[]>}
 */
export async function startUp(folder) {
  const machine = { StartAt: 'Done', States: { Done: { Type: 'Pass', End: true } } }
  const engine = await startStepFunctionsEmulator({ stateMachines: { order: machine } })
  const config = `${folder}/runbridge.yaml`
  const stateMachineArn = engine.stateMachineArn('order')
  writeFileSync(
    config,
    JSON.stringify({
      server: { port: 0 },
      store: { sqlite: { path: 'tasks.sqlite' } },
      engines: { stepFunctions: { endpoint: engine.url } },
      tools: [{ name: 'order', description: 'For benchmarks.', stepFunctions: { stateMachineArn } }],
    }),
  )
  try {
    /** @type {number[]} */
    const ours = []
    /** @type {number[]} */
    const bare = []
    for (let time = 0; time < TIMES; time += 1) {
      ours.push(await timed(async () => serve({ config })))
      bare.push(
        await timed(async () => {
          const { line, end } = await child(['test/bench/servers.mjs', 'sdk'])
          return { url: line, end }
        }),
      )
    }
    return [
      figure('`runbridge serve` to its first answer', median(ours), 'ms'),
      figure('a bare SDK server to its first answer', median(bare), 'ms'),
      figure(
        '`runbridge serve`: of the bare SDK server',
        median(ours.map((ms, n) => ms / (bare[n] ?? 1))),
        'times',
      ),
    ]
  } finally {
    await engine.close()
  }
}

/** @param {() => Promise<{ url: string, end: () => Promise<unknown> }>} start */
async function timed(start) {
  const began = performance.now()
  const server = await start()
  const response = await fetch(server.url, { method: 'POST', ...mcpRequest('tools/list') })
  const text = await response.text()
  const ms = performance.now() - began
  await server.end()
  if (!text.includes('"tools"'))
    throw new Error(`${server.url} did not list its tools: ${text.slice(0, 300)}`)
  return ms
}
