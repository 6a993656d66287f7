import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { SFNClient } from '@aws-sdk/client-sfn'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { stepFunctions } from './backend.js'
import { createStepFunctionsClients } from './clients.js'
import { CREDENTIALS } from './testing/emulated-engine.js'
import { context, EXECUTION, look, MACHINE } from './testing/scripted-clients.js'

const servers: Server[] = []
afterAll(() => {
  for (const server of servers) server.close()
})

async function clientsOf(server: Server) {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const clients = createStepFunctionsClients({
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${port}`,
    credentials: CREDENTIALS,
  })
  return { port, clients }
}

/** An endpoint that resets every connection, or answers 503, and counts what arrived by action. */
async function failing(how: 'reset' | '503') {
  const arrived: Record<string, number> = {}
  const hosts = new Set<string>()
  const server = createServer((request, response) => {
    const action = String(request.headers['x-amz-target']).replace('AWSStepFunctions.', '')
    arrived[action] = (arrived[action] ?? 0) + 1
    hosts.add(String(request.headers.host))
    if (how === 'reset') request.socket.destroy()
    else response.writeHead(503).end()
  })
  const { port, clients } = await clientsOf(server)
  return { arrived, hosts, port, clients, backend: stepFunctions({ clients }) }
}

describe.each(['reset', '503'] as const)('when every call meets a %s', (how) => {
  it('a start and a call are sent once, and nothing is claimed of them', async () => {
    const { backend, arrived, hosts, port } = await failing(how)
    const workflow = { id: MACHINE }
    expect((await backend.start(workflow, 'rb-1', {}, context)).kind).toBe('unknown')
    expect((await backend.call?.(workflow, {}, context))?.kind).toBe('unknown')
    expect(arrived).toEqual({ StartExecution: 1, StartSyncExecution: 1 })
    expect([...hosts]).toEqual([`127.0.0.1:${port}`])
  })
  it('the counts of a Map Run are asked for once, since all looks would wait for that quota', async () => {
    const { backend, arrived } = await failing(how)
    const mapRunArn = 'arn:aws:states:us-east-1:123456789012:mapRun:deploy/Files:1'
    const visit = { entered: 2, name: 'Files', type: 'Map', mapRunArn }
    const marks = { lastEvent: 4, lines: [{ tail: 4, visit }], nested: [], looks: 0 }
    await backend.get({ id: MACHINE }, { id: EXECUTION, attempt: 0 }, { ...look, progress: true, marks })
    expect(arrived).toMatchObject({ DescribeMapRun: 1, GetExecutionHistory: 3 })
  })
  it('a read is repeated, and then unreadable', async () => {
    const { backend, arrived } = await failing(how)
    const result = await backend.get({ id: MACHINE }, { id: EXECUTION, attempt: 0 }, look)
    expect(result).toMatchObject({ kind: 'unreadable', error: { code: 'unavailable' } })
    expect(arrived.DescribeExecution).toBe(3)
  })
})

describe('what the clients are made with', () => {
  const made = (endpoint?: string) => {
    const clients = createStepFunctionsClients({ region: 'us-east-1', endpoint, credentials: CREDENTIALS })
    return { close: clients.close, sync: clients.sync as SFNClient }
  }
  it('a call waits longer than the five minutes of an Express run, and is sent once', async () => {
    const { clients, backend } = await failing('reset')
    await backend.call?.({ id: MACHINE }, {}, context)
    const { config } = clients.sync as SFNClient
    const handler = config.requestHandler as unknown as { httpHandlerConfigs(): { requestTimeout?: number } }
    expect(handler.httpHandlerConfigs().requestTimeout).toBeGreaterThan(300_000)
    expect(await config.maxAttempts()).toBe(1)
    clients.close()
  })
  it('the host is not prefixed where an endpoint is given, and is where none is', () => {
    const [given, regional] = [made('http://127.0.0.1:9'), made()]
    expect(given.sync.config.disableHostPrefix).toBe(true)
    expect(regional.sync.config.disableHostPrefix).toBe(false)
    given.close()
    regional.close()
  })
  it.each([
    ['AWS_ENDPOINT_URL', {}, true],
    ['AWS_ENDPOINT_URL_SFN', {}, true],
    ['AWS_ENDPOINT_URL', { AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true' }, false],
  ])('the host is that of %s, with %o', (variable, more, disabled) => {
    for (const [name, value] of Object.entries({ [variable]: 'http://127.0.0.1:9', ...more }))
      vi.stubEnv(name, value)
    try {
      const clients = made()
      expect(clients.sync.config.disableHostPrefix).toBe(disabled)
      clients.close()
    } finally {
      vi.unstubAllEnvs()
    }
  })
})

it('without credentials a start is refused, since nothing can be sent', async () => {
  const clients = createStepFunctionsClients({
    region: 'us-east-1',
    endpoint: 'http://127.0.0.1:9',
    credentials: async () => {
      throw Object.assign(new Error('none'), { name: 'CredentialsProviderError' })
    },
  })
  const result = await stepFunctions({ clients }).start({ id: MACHINE }, 'rb-1', {}, context)
  expect(result).toMatchObject({ kind: 'refused', error: { code: 'unauthenticated' } })
  clients.close()
})

/** An endpoint that closes each connection which is used again, as one does that was idle for too long. */
async function tired() {
  const used = new WeakSet<object>()
  const server = createServer((request, response) => {
    if (used.has(request.socket)) return void request.socket.destroy()
    used.add(request.socket)
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' })
    response.end(
      JSON.stringify({
        executionArn: EXECUTION,
        startDate: 1,
        stopDate: 2,
        status: 'SUCCEEDED',
        output: '{}',
      }),
    )
  })
  const { clients } = await clientsOf(server)
  return stepFunctions({ clients })
}

describe('what is sent once', () => {
  it('has a connection of its own: none that the other end has closed meanwhile', async () => {
    const backend = await tired()
    const workflow = { id: MACHINE }
    for (const name of ['rb-1', 'rb-2']) {
      expect((await backend.start(workflow, name, {}, context)).kind).toBe('started')
      expect((await backend.call?.(workflow, {}, context))?.kind).toBe('ended')
    }
  })
})
