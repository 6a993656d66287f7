import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type StepFunctionsEmulator, startStepFunctionsEmulator } from '@runbridge/emulators/step-functions'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from './config/config.js'
import { built, main, type Started, startNode } from './testing/start-node.js'

let engine: StepFunctionsEmulator
let folder: string
beforeAll(async () => {
  await built()
  engine = await startStepFunctionsEmulator({
    stateMachines: { Echo: { StartAt: 'Done', States: { Done: { Type: 'Pass', End: true } } } },
  })
}, 60_000)
afterAll(() => engine.close())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runbridge-auth-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const yaml = (server: string) => `
server: { port: 0, ${server} }
engines: { stepFunctions: { endpoint: "${engine.url}" } }
tools:
  - name: echo
    description: Gives back what it got.
    stepFunctions: { stateMachineArn: "${engine.stateMachineArn('Echo')}" }
`
const configure = (server: string) => writeFile(join(folder, 'runbridge.yaml'), yaml(server))

function runbridge(args: readonly string[], env: NodeJS.ProcessEnv = {}): Started {
  return startNode([main, ...args], { cwd: folder, env })
}

describe('runbridge token', () => {
  it('makes a token that the server then takes from runbridge call, and nobody without it', async () => {
    const made = await runbridge(['token', 'ci']).ended
    const token = made.out.trim()
    const entry = /^ {2}- (\{.*\})$/m.exec(made.err)?.[1]
    expect(made.status).toBe(0)
    expect(made.err).not.toContain(token)
    await configure(`logLevel: silent, auth: { tokens: [${entry}] }`)
    const server = runbridge(['serve'])
    const url = await server.said(/http:\/\/127\.0\.0\.1:\d+\/mcp/)
    const call = ['call', 'echo', '--args', '{"word":"hello"}', '--url', url]
    expect(await runbridge(call, { RUNBRIDGE_TOKEN: token }).ended).toMatchObject({
      status: 0,
      out: expect.stringContaining('"word":"hello"'),
    })
    const refused = await runbridge(call, { RUNBRIDGE_TOKEN: `${token}x` }).ended
    expect(refused.status).toBe(1)
    expect(refused.err).toContain('RUNBRIDGE_TOKEN')
    expect(refused.err).not.toContain(token)
    expect((await runbridge(call).ended).err).toContain('RUNBRIDGE_TOKEN')
    server.kill('SIGTERM')
    const { status, err } = await server.ended
    expect(status).toBe(0)
    const lines = err
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toEqual([
      expect.objectContaining({
        audit: 'call',
        owner: '["subject","urn:runbridge:token","ci"]',
        tool: 'echo',
        taskId: expect.stringMatching(/^tsk_/),
        time: expect.any(String),
      }),
    ])
  })
})

describe('an open bind', () => {
  it.each([
    ['host: 0.0.0.0', 'Nothing authenticates callers'],
    [`host: 0.0.0.0, auth: { tokens: [{ name: ci, sha256: ${'a'.repeat(64)} }] }`, 'auth.resourceUrl'],
  ])('is refused with status 2 by serve and by check: %s', async (server, message) => {
    await configure(server)
    for (const command of ['serve', 'check']) {
      const { status, out, err } = await runbridge([command]).ended
      expect([status, err]).toEqual([2, expect.stringContaining(message)])
      expect(out).not.toContain('serves')
    }
  })
})

describe('runbridge check', () => {
  it('tells of each authorization server whether its keys can be had', async () => {
    const keys = createServer((request, response) => {
      response
        .writeHead(request.url === '/jwks' ? 200 : 404)
        .end(JSON.stringify({ keys: [{ kty: 'EC', kid: '1' }] }))
    })
    keys.listen(0, '127.0.0.1')
    await new Promise((resolve) => keys.once('listening', resolve))
    const issuer = `http://127.0.0.1:${(keys.address() as AddressInfo).port}`
    const auth = (jwt: string) => `auth: { resourceUrl: "http://127.0.0.1:8080/mcp", jwt: [${jwt}] }`
    await configure(auth(`{ issuer: "${issuer}", jwksUri: "${issuer}/jwks" }`))
    const good = await runbridge(['check']).ended
    expect(good.out).toContain(`auth  ${issuer}\n  ok       1 key`)
    expect(good.status).toBe(0)
    await configure(auth(`{ issuer: "${issuer}" }`))
    const bad = await runbridge(['check']).ended
    expect(bad.out).toContain(`auth  ${issuer}\n  problem  The keys of ${issuer} can not be fetched`)
    expect(bad.status).toBe(1)
    keys.close()
  })
})

describe('the configuration', () => {
  const problems = (server: string) => {
    const result = parseConfig(yaml(server), {})
    return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`)
  }

  it.each([
    ['auth: {}', 'server.auth: admits nobody'],
    ['auth: { jwt: [{ issuer: "https://a.example" }] }', 'server.auth: needs `resourceUrl` beside `jwt`'],
    ['auth: { tokens: [{ name: ci, sha256: abc }] }', 'server.auth.tokens[0].sha256: is no SHA-256'],
    [
      'auth: { resourceUrl: "https://b.example/mcp", jwt: [{ issuer: "https://a.example", algorithms: [HS256] }] }',
      'server.auth.jwt[0].algorithms[0]',
    ],
    [
      'auth: { resourceUrl: "https://b.example/mcp", jwt: [{ issuer: "https://a.example", scopes: ["a b"] }] }',
      'server.auth.jwt[0].scopes[0]: is no scope',
    ],
  ])('%s is refused', (server, message) => {
    expect(problems(server)).toEqual([expect.stringContaining(message)])
  })

  it.each(['2027-01-01', '2027-01-01T12:00:00Z', '2027-01-01T12:00:00+02:00'])(
    'takes %s as an end',
    (expires) => {
      const sha256 = 'a'.repeat(64)
      expect(problems(`auth: { tokens: [{ name: ci, sha256: ${sha256}, expires: "${expires}" }] }`)).toEqual(
        [],
      )
    },
  )
})
