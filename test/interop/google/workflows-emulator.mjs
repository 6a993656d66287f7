import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../bin/free-port.mjs'
import { startForeign } from '../foreign-process.mjs'
import { installedPython } from '../installed.mjs'

/**
 * PyPI `workflows-emulator`: Google's workflow language by others, and Google's own API descriptions in the package.
 * The version that the list of what it lacks is about.
 */
const VERSION = '1.10.0'

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

const environment = () => installedPython(`workflows-emulator==${VERSION}`)

/**
 * Google's description of an API, as the package has it.
 * @param {'workflowexecutions' | 'workflows'} api
 * @returns {Promise<any>}
 */
export async function discoveryDocument(api) {
  const lib = join((await environment()).folder, 'lib')
  const [python] = readdirSync(lib).filter((name) => name.startsWith('python'))
  const folder = join(lib, String(python), 'site-packages/workflows_emulator/discovery_documents')
  return JSON.parse(readFileSync(join(folder, `${api}_v1.json`), 'utf8'))
}

/**
 * Starts it with one workflow, which it runs under every name.
 * @param {string} workflow Google's YAML
 */
export async function startWorkflowsEmulator(workflow) {
  const { python } = await environment()
  const folder = mkdtempSync(join(tmpdir(), 'runbridge-workflows-emulator-'))
  const file = join(folder, 'workflow.yaml')
  writeFileSync(file, workflow)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const close = await startForeign(python, ['-c', LAUNCH, file, String(port)], {
    name: 'workflows-emulator',
    folder,
    env: { PATH: process.env.PATH ?? '' },
    answers: () => fetch(url).then(() => true),
  })
  return { url, close }
}
