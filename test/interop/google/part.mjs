import { run } from '../../bin/command.mjs'
import { createChecks } from '../checks.mjs'
import { againstDiscovery } from './against-discovery.mjs'
import { againstWorkflowsEmulator } from './against-workflows-emulator.mjs'
import { throughTheServer } from './through-the-server.mjs'

/**
 * Google Workflows through the built server and the official client, on both transports; the adapter against an engine
 * that others wrote; and both sides against Google's description of its APIs.
 * @type {import('../../bin/interop.mjs').Part}
 */
export async function google(print) {
  const checks = createChecks(print)
  await throughTheServer(checks, 'grpc')
  await throughTheServer(checks, 'rest')
  if ((await run('python3', ['--version']).catch(() => ({ code: 1 }))).code !== 0) {
    checks.skip('workflows-emulator', 'python3 is not installed')
    return checks.figures
  }
  print('        workflows-emulator; the first time it is installed')
  await againstWorkflowsEmulator(checks)
  await againstDiscovery(checks)
  return checks.figures
}
