import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { root, run } from '../../bin/command.mjs'

/**
 * PyPI `workflows-emulator`: Google's workflow language by others, and Google's own API descriptions in the package.
 * The version that the list of what it lacks is about.
 */
const VERSION = '1.10.0'
const START_MS = 60_000

/** Its own command listens on every address; this listens on loopback. */
const LAUNCH = `
import sys, uvicorn
from fastapi import FastAPI
from workflows_emulator.cli import WORKFLOW_EXECUTE_ROUTE
from workflows_emulator.server import default_handler_clousure
app = FastAPI()
app.add_api_route(path=WORKFLOW_EXECUTE_ROUTE, endpoint=default_handler_clousure(sys.argv[1]), methods=['POST'])
uvicorn.run(app, host='127.0.0.1', port=int(sys.argv[2]), log_level='warning')
`

/** A virtual environment that has it, outside of the tracked tree; made at the first use. @returns {Promise<string>} */
async function environment() {
  const caches = join(root, 'node_modules/.cache/interop')
  const folder = join(caches, `workflows-emulator-${VERSION}`)
  const ready = join(folder, 'ready')
  if (existsSync(ready)) return folder
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(caches, { recursive: true })
  await succeed('python3', ['-m', 'venv', folder])
  const python = join(folder, 'bin/python')
  await succeed(python, ['-m', 'pip', 'install', '--quiet', `workflows-emulator==${VERSION}`])
  mkdirSync(ready)
  return folder
}

/** @param {string} command @param {readonly string[]} args */
async function succeed(command, args) {
  const { code, output } = await run(command, args)
  if (code !== 0) throw new Error(`\`${command} ${args.join(' ')}\` failed: ${output.trim().slice(-500)}`)
}

/**
 * Google's description of an API, as the package has it.
 * @param {'workflowexecutions' | 'workflows'} api
 * @returns {Promise<any>}
 */
export async function discoveryDocument(api) {
  const lib = join(await environment(), 'lib')
  const [python] = readdirSync(lib).filter((name) => name.startsWith('python'))
  const folder = join(lib, String(python), 'site-packages/workflows_emulator/discovery_documents')
  return JSON.parse(readFileSync(join(folder, `${api}_v1.json`), 'utf8'))
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/**
 * Starts it with one workflow, which it runs under every name.
 * @param {string} workflow Google's YAML
 */
export async function startWorkflowsEmulator(workflow) {
  const python = join(await environment(), 'bin/python')
  const folder = mkdtempSync(join(tmpdir(), 'runbridge-workflows-emulator-'))
  const file = join(folder, 'workflow.yaml')
  writeFileSync(file, workflow)
  const port = await freePort()
  const child = spawn(python, ['-c', LAUNCH, file, String(port)], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      printed = (printed + text).slice(-5000)
    })
  }
  const exited = once(child, 'exit')
  const close = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM')
      const killer = setTimeout(() => child.kill('SIGKILL'), 5_000)
      await exited
      clearTimeout(killer)
    }
    rmSync(folder, { recursive: true, force: true })
  }
  const url = `http://127.0.0.1:${port}`
  const patience = Date.now() + START_MS
  while (
    !(await fetch(url).then(
      () => true,
      () => false,
    ))
  ) {
    if (child.exitCode !== null || Date.now() > patience) {
      await close()
      throw new Error(`workflows-emulator did not come up. It printed:\n${printed}`)
    }
    await pause(100)
  }
  return { url, close }
}
