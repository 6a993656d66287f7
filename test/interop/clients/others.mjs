import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../../bin/command.mjs'
import { node22 } from '../../bin/node22.mjs'
import { installed, installedPython, succeed } from '../installed.mjs'

/** Clients that are no dependencies: kept in a folder outside of the tracked tree, installed at the first use. */
const PYTHON = ['mcp==2.3.0', 'fastmcp==4.2.3']
const INSPECTOR = '2.12.0'
/** The Python of the clients. */
export const clientsPython = () => installedPython(...PYTHON)

const script = fileURLToPath(new URL('python_clients.py', import.meta.url))
const PYTHON_FLOWS = ['list', 'call', 'hold', 'question', 'resource']

/**
 * A client of PyPI, which goes through all of its flows in one process.
 * @param {'mcp' | 'fastmcp'} library @param {'auto' | 'legacy'} mode
 * @returns {(target: import('./flows.mjs').Target) => Promise<import('./flows.mjs').Connected>}
 */
export const pythonClient = (library, mode) => async (target) => {
  const running = clientsPython().then(({ python }) =>
    run(python, [script, library, mode, JSON.stringify(target)]),
  )
  running.catch(() => undefined)
  /** @param {string} flow */
  const seen = (flow) => async () => {
    const { stdout, output } = await running
    const line = stdout.trim().split('\n').at(-1) ?? ''
    if (!line.startsWith('{')) throw new Error(output.trim().slice(-500))
    const problem = JSON.parse(line)[flow]
    if (problem !== null) throw new Error(problem ?? 'It was not tried.')
  }
  return {
    flows: Object.fromEntries(PYTHON_FLOWS.map((flow) => [flow, seen(flow)])),
    close: async () => {
      await running.catch(() => undefined)
    },
  }
}

/** Processes may take long to start where many do at once. */
const SETTINGS = ['--quiet', '--connect-timeout', '60000']

/** The inspector's command, which needs a newer Node than the product. @returns {Promise<readonly [string, string]>} */
export async function inspectorCommand() {
  const folder = await installed(`inspector-${INSPECTOR}`, async (made) => {
    writeFileSync(join(made, 'package.json'), '{ "private": true }\n')
    const named = `@modelcontextprotocol/inspector@${INSPECTOR}`
    await succeed('npm', ['install', named, '--prefix', made, '--no-audit', '--no-fund', '--ignore-scripts'])
  })
  return [
    await node22(),
    join(folder, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js'),
  ]
}

/**
 * The command-line client of the inspector: a process for each call.
 * @param {'auto' | 'legacy'} era
 * @returns {(target: import('./flows.mjs').Target) => Promise<import('./flows.mjs').Connected>}
 */
export const inspector =
  (era) =>
  async ({ url, process }) => {
    const [node, program] = await inspectorCommand()
    // What the inspector starts has its own Node first in the path.
    const command = globalThis.process.execPath
    const env = Object.entries(process.env).flatMap(([name, value]) => ['-e', `${name}=${value}`])
    const to = url === undefined ? [...env, '--', command, ...process.args] : [url, '--transport', 'http']
    /** @param {readonly string[]} method @returns {Promise<any>} */
    const ask = async (...method) => {
      const options =
        url === undefined
          ? [program, '--cli', ...SETTINGS, '--protocol-era', era, ...method, ...to]
          : [program, '--cli', ...SETTINGS, '--protocol-era', era, ...to, ...method]
      const { code, stdout, output } = await run(node, options)
      if (code !== 0) throw new Error(output.trim().slice(-500))
      return JSON.parse(stdout.slice(stdout.indexOf('{')))
    }
    return {
      close: async () => {},
      flows: {
        async list() {
          const { tools } = await ask('--method', 'tools/list')
          if (!tools.some((/** @type {any} */ { name }) => name === 'compute')) throw new Error('no compute')
        },
        async call() {
          const args = ['--method', 'tools/call', '--tool-name', 'greet', '--tool-arg', 'name=Ada']
          const { content } = await ask(...args)
          if (content[0].text !== 'Hello, Ada!') throw new Error(JSON.stringify(content))
        },
        async hold() {
          const args = ['--tool-name', 'compute', '--tool-arg', 'seconds=1', 'label=held']
          const { content } = await ask('--method', 'tools/call', ...args)
          if (content[0].text !== 'held took 1 s') throw new Error(JSON.stringify(content))
        },
        async resource() {
          const { contents } = await ask('--method', 'resources/read', '--uri', 'runbridge://tasks')
          if (!Array.isArray(JSON.parse(contents[0].text).tasks)) throw new Error(JSON.stringify(contents))
        },
      },
    }
  }
