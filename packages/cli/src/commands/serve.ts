import { serveHttp, serveStdio } from '@runbridge/server'
import type { Logger } from 'pino'
import { openAuth } from '../auth.js'
import { compose } from '../compose.js'
import type { Composition } from '../compose-of.js'
import { loadConfig } from '../config/config.js'
import type { Config } from '../config/schema.js'
import { auditOf, consoleOf, createLog } from '../log.js'
import { EXIT } from './exit.js'
import type { Io } from './io.js'

export interface ServeOptions {
  readonly config: string
  /** Instead of the configuration's. */
  readonly port?: number
  /** Serves the host that started this process over its pipes, instead of over HTTP. */
  readonly stdio?: boolean
  /** Aborts when the process is told to end. */
  readonly signal: AbortSignal
}

/** Serves until it is told to end, or until its host is gone, then finishes what is under way. */
export async function serve({ config: file, port, stdio, signal }: ServeOptions, io: Io): Promise<number> {
  const config = await loadConfig(file, process.env)
  const log = createLog(config.server.logLevel)
  globalThis.console = consoleOf(log)
  const audit = config.server.audit ? auditOf(log) : undefined
  let composition: Composition
  try {
    composition = await compose(config, { log, signal, ...(audit && { audit }) })
  } catch (thrown) {
    // What was under way was given up, and says nothing of the engine.
    if (!signal.aborted) throw thrown
    log.info('ended before it served')
    return EXIT.ok
  }
  try {
    await (stdio
      ? overStdio(composition, log, signal)
      : overHttp(composition, { ...config.server, ...(port !== undefined && { port }) }, log, signal, io))
  } finally {
    await composition.close()
  }
  log.info('ended')
  return EXIT.ok
}

/** Says on `out` where it listens. */
async function overHttp(
  { server, tools, routes }: Composition,
  config: Config['server'],
  log: Logger,
  signal: AbortSignal,
  io: Io,
): Promise<void> {
  const { host, port, allowedHosts, allowedOrigins } = config
  const auth = openAuth(config, tools, log)
  if (!auth && allowedHosts) log.warn(ONE_OWNER)
  const http = await serveHttp({
    server,
    host,
    port,
    routes,
    ...(allowedHosts && { allowedHosts }),
    ...(allowedOrigins && { allowedOrigins }),
    ...(auth && { auth }),
  })
  try {
    io.out(`runbridge serves ${toolNames(tools)} at ${http.url}`)
    await aborted(signal)
    log.info(ENDING)
  } finally {
    await http.close()
  }
}

async function overStdio({ server, tools }: Composition, log: Logger, signal: AbortSignal): Promise<void> {
  const stdio = serveStdio({ server })
  try {
    log.info(`runbridge serves ${toolNames(tools)} over stdio`)
    await Promise.race([stdio.ended, aborted(signal)])
    log.info(ENDING)
  } finally {
    await stdio.close()
  }
}

const ONE_OWNER =
  'requests for other hosts are accepted and nothing tells who sends them: whoever comes through a proxy is the same owner and sees the tasks of all; configure server.auth'

const ENDING = 'ending: finishing what is under way; runs go on in their engines'

function toolNames(tools: readonly { readonly name: string }[]): string {
  return tools.map(({ name }) => name).join(', ')
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
