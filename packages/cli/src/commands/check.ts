import { RunbridgeError } from '@runbridge/core'
import type { Tool } from '@runbridge/server'
import { type AccessReport, checkAccess, type Feature } from '@runbridge/step-functions'
import { openAuth } from '../auth.js'
import { openStore, type ResolvedTool, resolveTools } from '../compose.js'
import { loadConfig } from '../config/config.js'
import type { Config } from '../config/schema.js'
import { type Engines, openEngines } from '../engines.js'
import { EXIT, exitStatus } from './exit.js'
import type { Io } from './io.js'

export interface CheckOptions {
  readonly config: string
  readonly signal: AbortSignal
}

/**
 * Says of every tool whether it would be served and which permissions are missing. Starts nothing.
 * Ok: `serve` would start, and nothing is known to be missing.
 */
export async function check({ config: file, signal }: CheckOptions, io: Io): Promise<number> {
  const config = await loadConfig(file, process.env)
  await (await openStore(config.store)).close()
  const engines = openEngines(config.engines, {})
  try {
    const statuses: number[] = []
    for (const tool of await resolveTools(config, engines, signal)) {
      statuses.push(await checkTool(tool, engines, signal, io))
    }
    const authStatuses = await checkAuth(config.server, io)
    const status = Math.max(...statuses, ...authStatuses)
    const wrong = statuses.filter((each) => each !== EXIT.ok).length
    io.out(wrong === 0 ? 'All tools can be served.' : `${wrong} of ${statuses.length} tools need something.`)
    return status
  } finally {
    engines.close()
  }
}

/** Fetches the keys of every authorization server: a wrong address shows here and not with the first caller. */
async function checkAuth(server: Config['server'], io: Io): Promise<number[]> {
  const reports = (await openAuth(server, [])?.check()) ?? []
  return reports.map(({ issuer, outcome }) => {
    const failed = outcome instanceof RunbridgeError
    io.out(`auth  ${issuer}`)
    io.out(failed ? `  problem  ${outcome.message}` : `  ok       ${outcome} keys`)
    io.out('')
    return failed ? exitStatus(outcome) : EXIT.ok
  })
}

async function checkTool(
  { config, outcome }: ResolvedTool,
  engines: Engines,
  signal: AbortSignal,
  io: Io,
): Promise<number> {
  const { name, stepFunctions } = config
  const arn = stepFunctions.stateMachineArn
  io.out(`${name}  ${arn}`)
  if (outcome instanceof RunbridgeError) io.out(`  problem  ${outcome.message.replace(`Tool ${name}: `, '')}`)
  else io.out(`  ok       ${described(outcome)}`)
  // What is no ARN has no permissions to ask for; everything else is told in one go.
  if (outcome instanceof RunbridgeError && outcome.code === 'misconfigured') return EXIT.usage
  const { clients } = engines.stepFunctions(arn)
  const reports = await checkAccess(clients, arn, featuresOf(config, outcome), { signal })
  for (const report of reports) io.out(`  ${accessLine(report)}`)
  io.out('')
  if (outcome instanceof RunbridgeError) return exitStatus(outcome)
  return reports.some(({ access }) => access === 'missing') ? EXIT.failed : EXIT.ok
}

function described({ capabilities, taskSupport, humanInput }: Tool): string {
  if (capabilities.execution === 'call') return 'Express: answers within the call'
  const gates = humanInput === 'off' ? 'asks nobody' : `asks a person by ${humanInput}`
  return `Standard: tasks ${taskSupport}, ${gates}`
}

function featuresOf(config: ResolvedTool['config'], outcome: Tool | RunbridgeError): Feature[] {
  if (!(outcome instanceof RunbridgeError) && outcome.capabilities.execution === 'call') return ['sync']
  return [
    'start',
    'follow',
    'cancel',
    'redrive',
    ...(config.progress ? (['progress'] as const) : []),
    ...(config.humanInput === 'off' ? [] : (['gates'] as const)),
  ]
}

const WORDS: Record<AccessReport['access'], string> = {
  allowed: 'allowed',
  missing: 'MISSING',
  unsure: 'unsure',
}

function accessLine({ access, action, resource, why, note }: AccessReport): string {
  const head = `${WORDS[access].padEnd(8)} ${action}`
  if (access === 'allowed') return head
  const reason = access === 'missing' ? `for: ${why}` : (note ?? '')
  return `${head} on ${resource}; ${reason}`
}
