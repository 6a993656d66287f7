import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TaskKey } from '@runbridge/core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { check } from '../commands/check.js'
import { EXIT } from '../commands/exit.js'
import type { Io } from '../commands/io.js'
import { compose } from '../compose.js'
import { parseConfig } from '../config/config.js'
import { openEngines } from '../engines.js'

const ARN = 'arn:aws:states:us-east-1:123456789012:stateMachine:deploy'
const ROLE = 'arn:aws:iam::123456789012:role'
const ADA = '["subject","urn:runbridge:token","ada"]'
const BOB = '["subject","urn:runbridge:token","bob"]'
const signal = new AbortController().signal
const awsCredentials = { accessKeyId: 'OWN', secretAccessKey: 'own' }

/** Who signed what. A role that nobody may assume is called `closed`; the key of another is its name. */
let arrived: string[]
const aws = createServer(async (request, response) => {
  const who = /Credential=([\w-]+)/.exec(request.headers.authorization ?? '')?.[1]
  const body = await text(request)
  const action = String(request.headers['x-amz-target']).replace('AWSStepFunctions.', '')
  if (body.includes('Action=AssumeRole')) {
    const role = new URLSearchParams(body).get('RoleArn')?.replace(/^.*\//, '') ?? ''
    arrived.push(`${who} AssumeRole ${role}`)
    const error =
      '<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>'
    const keys = `<AccessKeyId>${role}</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>`
    const assumed = `<AssumeRoleResponse><AssumeRoleResult><Credentials>${keys}<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`
    return void response.writeHead(role === 'closed' ? 403 : 200).end(role === 'closed' ? error : assumed)
  }
  arrived.push(`${who} ${action}`)
  const sent = JSON.parse(body)
  const executionArn = `${ARN.replace('stateMachine', 'execution')}:${sent.name}`
  const answers: Record<string, object> = {
    DescribeStateMachine: { stateMachineArn: ARN, name: 'deploy', type: 'STANDARD', definition: '{}' },
    StartExecution: { executionArn, startDate: 1_700_000_000 },
    DescribeExecution: {
      executionArn: sent.executionArn,
      stateMachineArn: ARN,
      status: 'RUNNING',
      startDate: 1,
    },
  }
  const denied = { __type: 'AccessDeniedException', message: 'not authorized' }
  response.writeHead(answers[action] ? 200 : 400, { 'content-type': 'application/x-amz-json-1.0' })
  response.end(JSON.stringify(answers[action] ?? denied))
})
let url: string
beforeAll(async () => {
  await new Promise<void>((resolve) => aws.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(aws.address() as AddressInfo).port}`
  vi.stubEnv('AWS_ENDPOINT_URL_STS', url)
})
afterAll(() => {
  vi.unstubAllEnvs()
  aws.closeAllConnections()
  aws.close()
})
beforeEach(() => {
  arrived = []
})

function configured(roles: Record<string, string>, more: object = {}, store: object = { memory: {} }) {
  const parsed = parseConfig(JSON.stringify(written(roles, more, store)), {})
  if (!parsed.ok)
    throw new Error(parsed.problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  return parsed.config
}

function written(roles: Record<string, string>, more: object = {}, store: object = { memory: {} }) {
  const engine = { endpoint: url, roles, ...more }
  return {
    store,
    engines: { stepFunctions: engine },
    tools: [
      { name: 'deploy', description: 'Deploys.', progress: false, stepFunctions: { stateMachineArn: ARN } },
    ],
  }
}

async function served(roles: Record<string, string>, store: object = { memory: {} }) {
  const composition = await compose(configured(roles, {}, store), { signal, awsCredentials })
  const { service } = composition.server
  const start = (owner: string) => service.create({ owner, tool: 'deploy', form: 'ext-tasks', input: {} })
  return { service, start, close: composition.close }
}

describe('a configuration with roles', () => {
  it('serves each caller with its own, and starts nothing for one without', async () => {
    const { start, close } = await served({ [ADA]: `${ROLE}/ada` })
    expect((await start(ADA)).kind).toBe('task')
    const refused = await start(BOB)
    expect(refused).toMatchObject({ kind: 'refused', error: { code: 'denied' } })
    if (refused.kind === 'refused') expect(refused.error.message).toContain(BOB)
    await close()
    expect(arrived).toEqual(['OWN DescribeStateMachine', 'OWN AssumeRole ada', 'ada StartExecution'])
  })

  it('that lost the role of a task leaves it working, and never asks with another', async () => {
    const store = { sealed: { keys: ['s'.repeat(32)] } }
    const first = await served({ [ADA]: `${ROLE}/ada`, [BOB]: `${ROLE}/bob` }, store)
    const started = await first.start(ADA)
    if (started.kind !== 'task') throw new Error(started.error.message)
    const { owner, taskId } = started.task.record
    const key: TaskKey = { owner, taskId }
    await first.close()
    arrived = []
    const { service, close } = await served({ [BOB]: `${ROLE}/bob` }, store)
    expect((await service.get(key)).record).toMatchObject({
      state: 'running',
      unreadable: { code: 'denied' },
    })
    await expect(service.cancel(key, 'enough')).rejects.toMatchObject({ code: 'unavailable' })
    await close()
    expect(arrived).toEqual(['OWN DescribeStateMachine'])
  })

  it("assumes them with the server's own role, where it has one", async () => {
    const config = configured({ [ADA]: `${ROLE}/ada` }, { roleArn: `${ROLE}/hub` })
    const { server, close } = await compose(config, { signal, awsCredentials })
    await server.service.create({ owner: ADA, tool: 'deploy', form: 'ext-tasks', input: {} })
    await close()
    expect(arrived.filter((each) => each.includes('AssumeRole'))).toEqual([
      'OWN AssumeRole hub',
      'hub AssumeRole ada',
    ])
  })
})

describe('a check', () => {
  async function asked(roles: Record<string, string>) {
    const config = configured(roles)
    const engines = openEngines(config.engines, { awsCredentials })
    const bound = await engines.bind(config.tools[0]!)
    const reports = await bound.access(
      { ...config.tools[0], capabilities: { execution: 'run' } } as never,
      signal,
    )
    await engines.close()
    return reports.map(({ as, access, permission }) => [as?.split(' ')[0] ?? 'own', access, permission])
  }

  it('asks for everything with each role, and for the description with its own credentials', async () => {
    const reports = await asked({ [ADA]: `${ROLE}/ada` })
    expect(reports.filter(([as]) => as === 'own')).toEqual([
      ['own', 'allowed', 'states:DescribeStateMachine'],
    ])
    expect(reports.filter(([as]) => as === ADA)).toContainEqual([ADA, 'unsure', 'states:StartExecution'])
    expect(arrived.filter((each) => each.startsWith('OWN'))).toEqual(
      expect.not.arrayContaining(['OWN DescribeExecution', 'OWN StopExecution']),
    )
  })

  it('says which role can not be assumed, and goes on with the others', async () => {
    const reports = await asked({ [ADA]: `${ROLE}/closed`, [BOB]: `${ROLE}/bob` })
    expect(reports.filter(([as]) => as === ADA)).toEqual([[ADA, 'missing', 'sts:AssumeRole']])
    expect(reports.filter(([as]) => as === BOB).length).toBeGreaterThan(3)
  })
})

it('`runbridge check` prints with whose role and external id it asked', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'runbridge-roles-'))
  const config = join(folder, 'runbridge.yaml')
  await writeFile(config, JSON.stringify(written({ [ADA]: `${ROLE}/closed` })))
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'OWN')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'own')
  const lines: string[] = []
  const io = { out: (line: string) => void lines.push(line), err: () => undefined } as unknown as Io
  expect(await check({ config, signal }, io)).toBe(EXIT.failed)
  await rm(folder, { recursive: true })
  const hash = createHash('sha256').update(ADA).digest('hex')
  expect(lines).toEqual(
    expect.arrayContaining([
      '  allowed  states:DescribeStateMachine',
      `  as       ${ADA} by ${ROLE}/closed, external id ${hash}`,
      expect.stringContaining(`  MISSING  sts:AssumeRole on ${ROLE}/closed`),
    ]),
  )
})

describe('owners', () => {
  it.each([
    'ada',
    '["subject", "https://i", "ada"]',
    '["subject","ada"]',
    '["user","https://i","ada"]',
    '["subject","i",7]',
  ])('that no caller has are refused: %s', (owner) => {
    expect(() => configured({ [owner]: `${ROLE}/ada` })).toThrow(
      'is no owner; write it as the audit log has it',
    )
  })

  it('are those that the server makes', () => {
    const owners = ['local', ADA, '["client","https://i","app"]', '["iam","123456789012","AROAEXAMPLE"]']
    expect(() => configured(Object.fromEntries(owners.map((owner) => [owner, `${ROLE}/a/b`])))).not.toThrow()
  })

  it('need the ARN of a role', () => {
    expect(() => configured({ local: 'ada' })).toThrow('is no ARN of a role')
  })
})
