import { RunbridgeError, toRunbridgeError } from '@runbridge/core'
import { openAuth } from '../auth.js'
import { type ResolvedTool, resolveTools } from '../compose-of.js'
import { loadConfig } from '../config/config.js'
import type { Config, ToolConfig } from '../config/schema.js'
import type { Access, BoundEngines } from '../engines/bound.js'
import { openEngines, workflowOf } from '../engines.js'
import { openStore } from '../open-store.js'
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
    for (const tool of await resolveTools(config, engines, { signal })) {
      statuses.push(await checkTool(tool, engines, signal, io))
    }
    const authStatuses = await checkAuth(config.server, io)
    const status = Math.max(...statuses, ...authStatuses)
    const wrong = statuses.filter((each) => each !== EXIT.ok).length
    io.out(wrong === 0 ? 'All tools can be served.' : `${wrong} of ${statuses.length} tools need something.`)
    return status
  } finally {
    await engines.close()
  }
}

/** Fetches the keys of every authorization server: a wrong address shows here and not with the first caller. */
async function checkAuth(server: Config['server'], io: Io): Promise<number[]> {
  const reports = (await openAuth(server, [])?.check()) ?? []
  return reports.map(({ issuer, outcome }) => {
    const failed = outcome instanceof RunbridgeError
    io.out(`auth  ${issuer}`)
    io.out(
      failed ? `  problem  ${outcome.message}` : `  ok       ${outcome} ${outcome === 1 ? 'key' : 'keys'}`,
    )
    io.out('')
    return failed ? exitStatus(outcome) : EXIT.ok
  })
}

async function checkTool(
  { config, outcome }: ResolvedTool,
  engines: BoundEngines<ToolConfig>,
  signal: AbortSignal,
  io: Io,
): Promise<number> {
  const { name } = config
  const failed = outcome instanceof RunbridgeError
  io.out(`${name}  ${workflowOf(config)}`)
  if (failed) io.out(`  problem  ${outcome.message.replace(`Tool ${name}: `, '')}`)
  // What names no workflow has no permissions to ask for; everything else is told in one go.
  if (failed && outcome.code === 'misconfigured') return EXIT.usage
  const bound = await engines.bind(config).catch(toRunbridgeError)
  if (bound instanceof RunbridgeError) return exitStatus(bound)
  if (!failed) io.out(`  ok       ${await bound.describe(outcome, signal)}`)
  const reports = await bound.access(outcome, signal)
  for (const [index, report] of reports.entries()) {
    const { as } = report
    if (as !== undefined && as !== reports[index - 1]?.as) io.out(`  as       ${as}`)
    io.out(`  ${accessLine(report)}`)
  }
  io.out('')
  if (failed) return exitStatus(outcome)
  return reports.some(({ access }) => access === 'missing') ? EXIT.failed : EXIT.ok
}

const WORDS: Record<Access['access'], string> = {
  allowed: 'allowed',
  missing: 'MISSING',
  unsure: 'unsure',
}

function accessLine({ access, permission, resource, why, note }: Access): string {
  const head = `${WORDS[access].padEnd(8)} ${permission}`
  if (access === 'allowed') return head
  const reason = access === 'missing' ? `for: ${why}` : (note ?? '')
  return `${head} on ${resource}; ${reason}`
}
