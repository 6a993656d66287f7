import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  Client,
  ClientCredentialsProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import type { StepFunctionsEmulator } from '@runbridge/emulators/step-functions'
import { bearerAuth } from '@runbridge/server'
import { decodeJwt } from 'jose'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { build } from '../bin/build.mjs'
import { type Served, serve } from '../bin/serve.mjs'
import { startFixtureEngine } from '../fixtures/engine/engine.mjs'
import { type OpenIdProvider, startOpenIdProvider } from './openid-provider.mjs'
import { type Person, person } from './person.js'

/** A real `runbridge serve` that trusts a real OpenID provider, and official clients that find their way to it. */
let engine: StepFunctionsEmulator
let provider: OpenIdProvider
let folder: string
let server: Served
let resource: string
const open: Client[] = []

beforeAll(async () => {
  await build({ declarations: false })
  folder = mkdtempSync(join(tmpdir(), 'runbridge-auth-'))
  engine = await startFixtureEngine()
  const port = await freePort()
  resource = `http://127.0.0.1:${port}/mcp`
  provider = await startOpenIdProvider({ resource })
  const config = join(folder, 'runbridge.yaml')
  const arn = (name: string) => JSON.stringify(engine.stateMachineArn(name))
  writeFileSync(
    config,
    `
server:
  port: ${port}
  logLevel: silent
  auth:
    resourceUrl: ${resource}
    jwt: [{ issuer: "${provider.issuer}", scopes: [mcp] }]
store: { sqlite: { path: tasks.sqlite } }
engines: { stepFunctions: { endpoint: "${engine.url}" } }
tools:
  - name: greet
    description: Says hello, at once.
    stepFunctions: { stateMachineArn: ${arn('greet')} }
  - name: compute
    description: Works for a while.
    stepFunctions: { stateMachineArn: ${arn('slow-compute')} }
    holdMs: 0
  - name: release
    description: Greets in a task.
    stepFunctions: { stateMachineArn: ${arn('hello-task')} }
    scopes: [deploy]
`,
  )
  server = await serve({ config })
}, 60_000)
afterEach(() => Promise.all(open.splice(0).map((client) => client.close())))
afterAll(async () => {
  expect(await server?.end()).toBe(0)
  await engine?.close()
  await provider?.close()
  rmSync(folder, { recursive: true, force: true })
})

async function freePort(): Promise<number> {
  const socket = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => socket.once('listening', resolve))
  const { port } = socket.address() as { port: number }
  await new Promise((resolve) => socket.close(resolve))
  return port
}

const clientInfo = { name: 'official', version: '0' }
const newClient = () => {
  const client = new Client(clientInfo, { versionNegotiation: { mode: 'auto' } })
  open.push(client)
  return client
}

const machine = (clientId: string, scope = 'mcp') =>
  new ClientCredentialsProvider({
    clientId,
    clientSecret: `secret of ${clientId}`,
    scope,
    expectedIssuer: provider.issuer,
  })

async function asMachine(clientId: string, scope?: string): Promise<Client> {
  const client = newClient()
  const authProvider = machine(clientId, scope)
  await client.connect(new StreamableHTTPClientTransport(new URL(resource), { authProvider }))
  return client
}

/** Is sent to log in, logs in, and comes back with a token. */
async function asPerson(who: Person): Promise<Client> {
  const first = new StreamableHTTPClientTransport(new URL(resource), { authProvider: who })
  await expect(newClient().connect(first)).rejects.toThrow(UnauthorizedError)
  await first.finishAuth(await who.callback)
  const client = newClient()
  await client.connect(new StreamableHTTPClientTransport(new URL(resource), { authProvider: who }))
  return client
}

type Content = readonly { readonly text?: string }[]
const textOf = ({ content }: object & { content?: unknown }) => (content as Content)[0]?.text ?? ''

/** Starts a run that goes on, and gives its task's id. */
async function start(client: Client): Promise<string> {
  const answer = await client.callTool({ name: 'compute', arguments: { seconds: 1, label: 'x' } })
  return /Task (tsk_\S+):/.exec(textOf(answer))?.[1] ?? ''
}

/** The lines of the audit log, as they are on standard error. */
const audit = () =>
  server
    .log()
    .split('\n')
    .filter((line) => line.includes('"audit"'))
    .map((line) => JSON.parse(line))

test('a machine finds the provider from the 401, gets a token and calls a tool', async () => {
  const client = await asMachine('robot')
  expect(textOf(await client.callTool({ name: 'greet', arguments: { name: 'Ada' } }))).toBe('Hello, Ada!')
  expect(audit().at(-1)).toMatchObject({
    audit: 'call',
    owner: JSON.stringify(['subject', provider.issuer, 'robot']),
    tool: 'greet',
    outcome: 'succeeded',
  })
})

test('a person logs in, and their tasks are theirs from wherever they come', async () => {
  const ada = person('ada')
  const taskId = await start(await asPerson(ada))
  const token = String((await ada.tokens())?.access_token)
  expect(decodeJwt(token)).toMatchObject({ sub: 'ada', client_id: 'app', aud: resource })
  const status = { name: 'task_status', arguments: { taskId } }
  expect(textOf(await (await asPerson(person('ada'))).callTool(status))).toContain('x')
  for (const stranger of [await asPerson(person('grace')), await asMachine('robot')])
    expect(await stranger.callTool(status)).toMatchObject({
      isError: true,
      content: [{ text: 'Task not found' }],
    })
})

test('a tool with scopes: 403 with what is needed, and a token that has it', async () => {
  const call = { name: 'release', arguments: { name: 'Ada' } }
  const reader = await asMachine('reader')
  await expect(reader.callTool(call)).rejects.toThrow()
  expect(audit().at(-1)).toMatchObject({ audit: 'call', tool: 'release', outcome: 'denied' })
  // The official client asks for the scope that the challenge names, and tries again.
  const robot = await asMachine('robot', 'mcp')
  expect(await robot.callTool(call)).not.toMatchObject({ isError: true })
})

test('rotated keys: the provider signs with a new key, then forgets the old one', async () => {
  const auth = bearerAuth({
    jwt: [{ issuer: provider.issuer, audience: resource, cooldownMs: 0 }],
    resourceUrl: resource,
  })
  const tokenOf = async () => {
    const response = await fetch(`${provider.issuer}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa('robot:secret+of+robot')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'mcp', resource }),
    })
    return String(((await response.json()) as { access_token: unknown }).access_token)
  }
  const ask = async (token: string) => {
    const request = new Request(resource, { headers: { authorization: `Bearer ${token}` } })
    const answer = await auth.authenticate(request)
    return answer instanceof Response ? answer.status : answer.extra?.sub
  }
  const before = await tokenOf()
  expect(await ask(before)).toBe('robot')
  await provider.rotate({ keepOld: true })
  const after = await tokenOf()
  expect(await ask(after)).toBe('robot')
  expect(await ask(before)).toBe('robot')
  await provider.rotate({ keepOld: false })
  expect(await ask(await tokenOf())).toBe('robot')
  expect(await ask(after)).toBe(401)
})

test('neither tokens nor arguments are in the log', () => {
  expect(server.log()).not.toMatch(/eyJ|secret of|Ada/)
})
