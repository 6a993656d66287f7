import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type StepFunctionsBackend, stepFunctions } from './backend.js'
import { createStepFunctionsClients, type StepFunctionsClientsOptions } from './clients.js'
import { ownerSession } from './owner-session.js'
import { startAccount } from './testing/account.js'
import { context, EXECUTION, look, MACHINE, scriptedClients } from './testing/scripted-clients.js'

const OWN = { accessKeyId: 'OWN', secretAccessKey: 'own' }
const ARN = 'arn:aws:iam::123456789012:role'
const [ADA, BOB, EVE] = ['ada', 'bob', 'eve'].map((name) => `["subject","https://i","${name}"]`) as [
  string,
  string,
  string,
]
const workflow = { id: MACHINE }
const run = { id: EXECUTION, attempt: 0 }
const trusting = (owner: string) => ({ externalId: ownerSession(owner).ExternalId ?? '' })

let account: Awaited<ReturnType<typeof startAccount>>
let close: () => unknown
beforeEach(async () => {
  account = await startAccount({ ada: trusting(ADA), bob: trusting(BOB) })
  vi.stubEnv('AWS_ENDPOINT_URL_STS', account.url)
})
afterEach(async () => {
  await close()
  account.close()
  vi.unstubAllEnvs()
})

function served(options: Partial<StepFunctionsClientsOptions>): StepFunctionsBackend {
  const clients = createStepFunctionsClients({
    ...{ region: 'us-east-1', endpoint: account.url, credentials: OWN },
    ...options,
  })
  const backend = stepFunctions({ clients })
  close = async () => {
    await backend.close()
    clients.close()
  }
  return backend
}

const roles = { [ADA]: `${ARN}/ada`, [BOB]: `${ARN}/bob` }
const start = (backend: StepFunctionsBackend, owner: string) =>
  backend.start(workflow, 'rb-1', {}, { ...context, owner })
const came = () => account.arrivals.map(({ who, what }) => `${who} ${what}`)

describe('a role for each owner', () => {
  it('makes the calls for that owner, once assumed, with all of its clients', async () => {
    const backend = served({ roles })
    await Promise.all([start(backend, ADA), backend.get(workflow, run, { ...look, owner: ADA })])
    await backend.cancel(workflow, run, 'enough', { ...context, owner: ADA })
    await start(backend, BOB)
    expect(came().filter((each) => each.endsWith('AssumeRole'))).toEqual(['OWN AssumeRole', 'OWN AssumeRole'])
    expect(
      came()
        .filter((each) => !each.endsWith('AssumeRole'))
        .sort(),
    ).toEqual([
      'ada DescribeExecution',
      'ada DescribeExecution',
      'ada StartExecution',
      'ada StopExecution',
      'bob StartExecution',
    ])
  })

  it('is assumed in a session with the name of the owner, under its external id', async () => {
    await start(served({ roles }), ADA)
    const [session] = account.sessions
    expect([session?.get('RoleArn'), session?.get('RoleSessionName'), session?.get('ExternalId')]).toEqual([
      `${ARN}/ada`,
      ownerSession(ADA).RoleSessionName,
      ownerSession(ADA).ExternalId,
    ])
  })

  it("is assumed with the server's own role where there is one", async () => {
    const hub = await startAccount({ hub: { externalId: null as never }, ada: trusting(ADA) })
    vi.stubEnv('AWS_ENDPOINT_URL_STS', hub.url)
    await start(served({ roles, roleArn: `${ARN}/hub` }), ADA)
    expect(hub.arrivals.map(({ who }) => who)).toEqual(['OWN', 'hub'])
    expect(came()).toEqual(['ada StartExecution'])
    hub.close()
  })

  it("leaves it to the server's own credentials to describe a state machine", async () => {
    await served({ roles }).describe(workflow, context)
    expect(came()).toEqual(['OWN DescribeStateMachine'])
  })
})

describe('an owner without a role', () => {
  it('starts nothing: AWS is not asked, neither as another nor as the server', async () => {
    expect(await start(served({ roles }), EVE)).toMatchObject({ kind: 'refused', error: { code: 'denied' } })
    expect(came()).toEqual([])
  })

  it('has none by a name that every object has', async () => {
    expect((await start(served({ roles }), 'constructor')).kind).toBe('refused')
    expect(came()).toEqual([])
  })
})

describe('a role that can not be assumed', () => {
  it('starts nothing, and says which permission is missing', async () => {
    const backend = served({ roles: { ...roles, [EVE]: `${ARN}/ada` } })
    const result = await start(backend, EVE)
    expect(result).toMatchObject({ kind: 'refused', error: { code: 'denied' } })
    if (result.kind !== 'refused') return
    expect(result.error.message).toContain(`sts:AssumeRole on ${ARN}/ada`)
    expect(result.error.message).toContain('trust policy')
    expect(came()).toEqual(['OWN AssumeRole'])
  })

  it('leaves a run unreadable', async () => {
    const backend = served({ roles: { ...roles, [EVE]: `${ARN}/ada` } })
    const result = await backend.get(workflow, run, { ...look, owner: EVE })
    expect(result).toMatchObject({ kind: 'unreadable', error: { code: 'denied' } })
  })

  it('for an outage of STS, starts nothing for sure', async () => {
    account.down = true
    const result = await start(served({ roles }), ADA)
    expect(result).toMatchObject({ kind: 'refused', error: { code: 'unavailable' } })
    expect(new Set(came())).toEqual(new Set(['OWN AssumeRole']))
  })
})

describe('credentials of each owner, from a program', () => {
  const of = (accessKeyId: string) => ({ accessKeyId, secretAccessKey: 's' })

  const KEYS = new Map([
    [ADA, of('ada')],
    [BOB, of('bob')],
  ])

  it('are those of the call', async () => {
    const backend = served({
      credentialsOf: (owner) => KEYS.get(owner),
    })
    for (const owner of [ADA, BOB, EVE]) await start(backend, owner)
    expect(came()).toEqual(['ada StartExecution', 'bob StartExecution'])
  })

  it('that vanish leave a run unreadable, and nothing is asked with others', async () => {
    let known = true
    const backend = served({ credentialsOf: () => (known ? of('ada') : undefined) })
    await start(backend, ADA)
    known = false
    const result = await backend.get(workflow, run, { ...look, owner: ADA })
    expect(result).toMatchObject({ kind: 'unreadable', error: { code: 'denied' } })
    expect(came()).toEqual(['ada StartExecution'])
  })

  it('are asked for anew when they expire', async () => {
    let asked = 0
    const expired = { ...of('ada'), expiration: new Date(Date.now() - 1) }
    const backend = served({
      credentialsOf: () => async () => {
        asked += 1
        return asked === 1 ? expired : of('renewed')
      },
    })
    await start(backend, ADA)
    await start(backend, ADA)
    expect(came().at(-1)).toBe('renewed StartExecution')
  })
})

describe('clients of each owner, of a program', () => {
  it('are closed when those of others were used more lately, and with the backend', async () => {
    const closed: string[] = []
    const byOwner = {
      has: () => true,
      open: (owner: string) => ({
        ...scriptedClients({ StartExecution: { executionArn: EXECUTION } }),
        close: () => void closed.push(owner),
      }),
      maxOwners: 1,
    }
    const backend = stepFunctions({ clients: { ...scriptedClients({}), byOwner } })
    close = () => undefined
    for (const owner of [ADA, BOB]) expect((await start(backend, owner)).kind).toBe('started')
    await expect.poll(() => closed).toEqual([ADA])
    await backend.close()
    expect(closed).toEqual([ADA, BOB])
  })

  it('share one budget for the counts of Map Runs, which is of the account', async () => {
    const mapRunArn = 'arn:aws:states:us-east-1:123456789012:mapRun:deploy/Files:1'
    const visit = { entered: 2, name: 'Files', type: 'Map', mapRunArn }
    const marks = { lastEvent: 4, lines: [{ tail: 4, visit }], nested: [], looks: 0 }
    const sent: string[] = []
    const theirs = () => {
      const clients = scriptedClients({
        DescribeMapRun: { itemCounts: { total: 2, succeeded: 1, failed: 0 } },
        GetExecutionHistory: { events: [] },
        DescribeExecution: { executionArn: EXECUTION, status: 'RUNNING' },
      })
      return { ...clients, close: () => void sent.push(clients.sent[0]?.command ?? '') }
    }
    const byOwner = { has: () => true, open: theirs }
    const backend = stepFunctions({ clients: { ...scriptedClients({}), byOwner }, clock: { now: () => 0 } })
    close = () => undefined
    for (const owner of [ADA, BOB])
      await backend.get(workflow, run, { ...look, owner, progress: true, marks })
    await backend.close()
    expect(sent).toEqual(['DescribeMapRun', 'GetExecutionHistory'])
  })
})

it('looks count against the account of the state machine, whoever the owner is', () => {
  const byOwner = served({ roles })
  expect(byOwner.readQuota?.(workflow)).toEqual(
    stepFunctions({ clients: byOwnerless() }).readQuota?.(workflow),
  )
})

const byOwnerless = () => createStepFunctionsClients({ region: 'us-east-1', credentials: OWN })
