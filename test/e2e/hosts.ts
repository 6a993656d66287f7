import { StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { type Served, serve, serveCommand } from '../bin/serve.mjs'

/** A way to reach `runbridge serve`: what a client connects over, and how its processes end. */
export interface Host {
  start(): Promise<void>
  /** A transport for one more client. */
  transport(): Transport
  /** What its processes have printed beside the protocol. */
  log(): string
  /** Ends every process by this signal. */
  end(signal: NodeJS.Signals): Promise<void>
}

export interface HostOptions {
  readonly config: string
  readonly env: Record<string, string>
}

/** One process for all clients. It has to end with status 0 where the signal leaves it the choice. */
export function httpHost(options: () => HostOptions): Host {
  let server: Served
  return {
    async start() {
      server = await serve(options())
    },
    transport: () => new StreamableHTTPClientTransport(new URL(server.url)),
    log: () => server.log(),
    async end(signal) {
      const status = await server.end(signal)
      const expected = signal === 'SIGKILL' ? null : 0
      if (status !== expected) throw new Error(`It ended with ${status}. It printed:\n${server.log()}`)
    },
  }
}

/** A process for each client, started by the client, all on one store. */
export function stdioHost(options: () => HostOptions): Host {
  const running = new Set<StdioClientTransport>()
  let log = ''
  return {
    start: async () => {},
    transport() {
      const { command, args, cwd, env } = serveCommand({ ...options(), flags: ['--stdio'] })
      const transport = new StdioClientTransport({
        command,
        args,
        cwd,
        env: env as Record<string, string>,
        stderr: 'pipe',
      })
      transport.stderr?.on('data', (chunk) => {
        log += chunk
      })
      running.add(transport)
      return transport
    },
    log: () => log,
    async end(signal) {
      const ended = [...running].map(async (transport) => {
        const { pid } = transport
        if (pid === null) return
        const closed = new Promise<void>((resolve) => {
          const { onclose } = transport
          transport.onclose = () => {
            onclose?.call(transport)
            resolve()
          }
        })
        process.kill(pid, signal)
        await closed
      })
      await Promise.all(ended)
      running.clear()
    },
  }
}
