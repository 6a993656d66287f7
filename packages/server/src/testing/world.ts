import type { Backend, Capabilities, JsonObject } from '@runbridge/core'
import {
  type FakeBackend,
  type FakeRun,
  fakeBackend,
  type ManualClock,
  manualClock,
} from '@runbridge/core/testing'
import { memory } from '@runbridge/stores/memory'
import { createServer, type RunbridgeOptions, type RunbridgeServer } from '../create-server.js'
import { type HttpOptions, type HttpServer, serveHttp } from '../http.js'
import { resolveTool, type ToolOptions } from '../resolve-tool.js'
import type { Tool } from '../tool.js'

/** A server over a real socket, whose engine, clock and store the test holds in its hands. */
export interface World {
  readonly clock: ManualClock
  readonly backend: FakeBackend
  readonly server: RunbridgeServer
  readonly http: HttpServer
  readonly store: ReturnType<typeof memory>
  readonly tools: readonly Tool[]
  /** The n-th run that the engine was asked to start, as soon as there is one. */
  run(index?: number): Promise<FakeRun>
  /** Changes what the engine says of a run, and lets the server look at once. */
  set(run: FakeRun, change: () => void): Promise<void>
  close(): Promise<void>
}

export interface WorldOptions {
  readonly tools?: readonly (Partial<ToolOptions> & { readonly name: string })[]
  readonly capabilities?: Partial<Capabilities>
  readonly server?: Partial<RunbridgeOptions>
  readonly http?: Omit<HttpOptions, 'server'>
}

export const QUANTITY: JsonObject = {
  type: 'object',
  properties: { quantity: { type: 'integer', minimum: 1 } },
  required: ['quantity'],
}

export async function world(options: WorldOptions = {}): Promise<World> {
  const clock = manualClock()
  const backend = fakeBackend({ clock, ...(options.capabilities && { capabilities: options.capabilities }) })
  const store = memory()
  const signal = new AbortController().signal
  const specs = options.tools ?? [{ name: 'order' }]
  const tools = await Promise.all(
    specs.map((spec) =>
      resolveTool(
        { backend: backend as Backend, workflow: { id: spec.name }, description: 'A test.', ...spec },
        { signal },
      ),
    ),
  )
  const server = createServer({
    tools,
    store,
    clock,
    requestStateKey: new Uint8Array(32).fill(7),
    limits: { sweepMs: 1e12 },
    ...options.server,
  })
  const http = await serveHttp({ server, ...options.http })
  return {
    clock,
    backend,
    server,
    http,
    store,
    tools,
    run: (index = 0) => until(() => backend.executions[index]),
    async set(run, change) {
      change()
      clock.jump(1)
      await server.service.hint({ runKey: run.runKey })
    },
    close: () => http.close(),
  }
}

/** Waits for something that other turns of the event loop bring about. */
export async function until<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  for (;;) {
    const seen = await look()
    if (seen !== undefined && seen !== false) return seen
    await new Promise((resolve) => setImmediate(resolve))
  }
}
