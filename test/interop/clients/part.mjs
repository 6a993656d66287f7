import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, run } from '../../bin/command.mjs'
import { serve, serveCommand } from '../../bin/serve.mjs'
import { startFixtureEngine } from '../../fixtures/engine/engine.mjs'
import { createChecks } from '../checks.mjs'
import { FLOWS } from './flows.mjs'
import { modern } from './modern.mjs'
import { clientsPython, inspector, inspectorCommand, pythonClient } from './others.mjs'
import { v1 } from './v1.mjs'

/** @typedef {(target: import('./flows.mjs').Target) => Promise<import('./flows.mjs').Connected>} Client */

/** @type {Readonly<Record<string, Client>>} */
const CLIENTS = {
  'SDK 1.x': v1,
  'SDK 2.x + ext-tasks, 2026-07-28': modern('auto'),
  'SDK 2.x + ext-tasks, 2025-11-25': modern('legacy'),
  'inspector --cli, 2026-07-28': inspector('auto'),
  'inspector --cli, 2025-11-25': inspector('legacy'),
}
/** @type {Readonly<Record<string, Client>>} */
const OF_PYPI = {
  'Python mcp 2.x, 2026-07-28': pythonClient('mcp', 'auto'),
  'Python mcp 2.x, 2025-11-25': pythonClient('mcp', 'legacy'),
  'Python fastmcp 4.x, 2026-07-28': pythonClient('fastmcp', 'auto'),
  'Python fastmcp 4.x, 2025-11-25': pythonClient('fastmcp', 'legacy'),
}

/**
 * Clients that others made, over HTTP and stdio, at the same time against one server and one store, with tasks of all forms
 * among each other.
 * @type {import('../../bin/interop.mjs').Part}
 */
export async function clients(print) {
  const checks = createChecks(print)
  const hasPython = (await run('python3', ['--version']).catch(() => ({ code: 1 }))).code === 0
  print('        the clients of PyPI and the inspector; the first time they are installed')
  if (hasPython) await clientsPython()
  else checks.skip('the clients of PyPI', 'python3 is not installed')
  await inspectorCommand()
  const all = { ...CLIENTS, ...(hasPython && OF_PYPI) }

  const folder = mkdtempSync(join(tmpdir(), 'runbridge-clients-'))
  const engine = await startFixtureEngine()
  const env = {
    RUNBRIDGE_STORE: join(folder, 'tasks.sqlite'),
    RUNBRIDGE_ENDPOINT: engine.url,
    RUNBRIDGE_MACHINES: engine.stateMachineArn('x').slice(0, -2),
  }
  const config = join(root, 'test/fixtures/e2e.yaml')
  const server = await serve({ config, env })
  const started = serveCommand({ config, flags: ['--stdio'] })
  const paths = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' }
  const credentials = { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' }
  const target = {
    command: started.command,
    args: started.args,
    env: { ...paths, ...credentials, AWS_EC2_METADATA_DISABLED: 'true', ...env },
  }

  /** @type {Map<string, Record<string, string>>} */
  const table = new Map()
  /** @param {string} name @param {Client} client @param {'http' | 'stdio'} wire */
  async function through(name, client, wire) {
    const row = `${name}, ${wire}`
    /** @type {Record<string, string>} */
    const cells = {}
    table.set(row, cells)
    /** @type {import('./flows.mjs').Connected | undefined} */
    let connected
    await checks.check(`${row}: connects`, async () => {
      connected = await client({ url: wire === 'http' ? server.url : undefined, process: target })
    })
    for (const [flow, play] of Object.entries(connected?.flows ?? {})) {
      cells[flow] = 'FAILED'
      await checks.check(`${row}: ${FLOWS[flow]}`, async () => {
        await play?.()
        cells[flow] = 'ok'
      })
    }
    await connected?.close()
  }

  try {
    const cases = Object.entries(all).flatMap(([name, client]) =>
      /** @type {const} */ (['http', 'stdio']).map((wire) => ({ name, client, wire })),
    )
    await Promise.all(cases.map(({ name, client, wire }) => through(name, client, wire)))
    await checks.check('the server is ready after all of it, and ends with status 0', async () => {
      const ready = await fetch(server.url.replace('/mcp', '/readyz'))
      const status = await server.end()
      if (!ready.ok || status !== 0) throw new Error(`ready ${ready.status}, status ${status}`)
    })
  } finally {
    await server.end()
    await engine.close()
    rmSync(folder, { recursive: true, force: true })
  }
  printTable(print, table)
  return checks.figures
}

/** @param {(line: string) => void} print @param {ReadonlyMap<string, Record<string, string>>} table */
function printTable(print, table) {
  const flows = Object.keys(FLOWS)
  const width = Math.max(...[...table.keys()].map(({ length }) => length))
  const line = (/** @type {string} */ head, /** @type {readonly string[]} */ cells) =>
    print(`${head.padEnd(width)}  ${cells.map((cell) => cell.padEnd(8)).join('  ')}`.trimEnd())
  line('', flows)
  for (const [row, cells] of [...table].sort(([a], [b]) => a.localeCompare(b)))
    line(
      row,
      flows.map((flow) => cells[flow] ?? '-'),
    )
}
