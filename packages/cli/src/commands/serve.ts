import { serveHttp } from '@runbridge/server'
import { compose } from '../compose.js'
import { loadConfig } from '../config/config.js'
import { createLog } from '../log.js'
import { EXIT } from './exit.js'
import type { Io } from './io.js'

export interface ServeOptions {
  readonly config: string
  /** Instead of the configuration's. */
  readonly port?: number
  /** Aborts when the process is told to end. */
  readonly signal: AbortSignal
}

/** Serves until it is told to end, then finishes what is under way. Says on `out` where it listens. */
export async function serve({ config: file, port, signal }: ServeOptions, io: Io): Promise<number> {
  const config = await loadConfig(file, process.env)
  const log = createLog(config.server.logLevel)
  const composition = await compose(config, { log, signal })
  try {
    const { host, allowedHosts, allowedOrigins } = config.server
    const http = await serveHttp({
      server: composition.server,
      host,
      port: port ?? config.server.port,
      ...(allowedHosts && { allowedHosts }),
      ...(allowedOrigins && { allowedOrigins }),
    })
    try {
      io.out(`runbridge serves ${toolNames(composition.tools)} at ${http.url}`)
      await aborted(signal)
      log.info('ending: finishing what is under way; runs go on in their engines')
    } finally {
      await http.close()
    }
  } finally {
    await composition.close()
  }
  log.info('ended')
  return EXIT.ok
}

function toolNames(tools: readonly { readonly name: string }[]): string {
  return tools.map(({ name }) => name).join(', ')
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
