import { describe, expect, it } from 'vitest'
import { stepFunctions } from './backend.js'
import { EXPRESS_CAPABILITIES, STANDARD_CAPABILITIES } from './describe.js'
import { awsError, context, MACHINE, scriptedClients } from './testing/scripted-clients.js'
import type { StepFunctionsWorkflow } from './workflow.js'

const definition = JSON.stringify({
  Comment: 'Deploys a version.',
  StartAt: 'Both',
  States: {
    Both: { Type: 'Parallel', Branches: [{ StartAt: 'Approve', States: { Approve: { Type: 'Task' } } }] },
    Each: { Type: 'Map', ItemProcessor: { StartAt: 'Ask', States: { Ask: { Type: 'Task' } } } },
  },
})
const standard = { name: 'deploy', type: 'STANDARD', status: 'ACTIVE', definition }

function described(answer: object | Error, workflow: StepFunctionsWorkflow = { id: MACHINE }) {
  const clients = scriptedClients({ DescribeStateMachine: answer })
  return { clients, result: stepFunctions({ clients }).describe(workflow, context) }
}

describe('describe', () => {
  it('tells what the state machine says of itself', async () => {
    expect(await described(standard).result).toEqual({
      title: 'deploy',
      description: 'Deploys a version.',
      consoleUrl: `https://us-east-1.console.aws.amazon.com/states/home?region=us-east-1#/statemachines/view/${MACHINE}`,
      capabilities: STANDARD_CAPABILITIES,
    })
  })
  it('offers Express as one call, without cancel and gates', async () => {
    const { capabilities } = await described({ ...standard, type: 'EXPRESS' }).result
    expect(capabilities).toEqual(EXPRESS_CAPABILITIES)
    expect(capabilities).toMatchObject({ execution: 'call', start: 'blind', cancel: false, gates: false })
  })
  it.each([
    ['', MACHINE],
    [':7', `${MACHINE}:7`],
    [':PROD', MACHINE],
  ])('asks for %j as %s, since DescribeStateMachine knows no aliases', async (qualifier, arn) => {
    const { clients, result } = described(standard, { id: MACHINE + qualifier })
    await result
    expect(clients.sent[0]?.input.stateMachineArn).toBe(arn)
  })
  it('takes the description of a version where the definition has no comment', async () => {
    const bare = { name: 'x', definition: '{}', description: 'Version 7.' }
    expect((await described(bare).result).description).toBe('Version 7.')
    expect(await described({ name: 'x' }).result).not.toHaveProperty('description')
  })
  it.each([
    [awsError('StateMachineDoesNotExist'), 'workflow_not_found'],
    [awsError('AccessDeniedException'), 'denied'],
    [awsError('ExpiredTokenException'), 'unauthenticated'],
    [awsError('ThrottlingException'), 'throttled'],
    [{ ...standard, status: 'DELETING' }, 'workflow_not_found'],
  ])('throws %s as %s', async (answer, code) => {
    await expect(described(answer).result).rejects.toMatchObject({ name: 'RunbridgeError', code })
  })
  it('finds the states of questions at every level, and says which are not there', async () => {
    const gates = { Approve: { prompt: 'Deploy?' }, Ask: {} }
    await expect(described(standard, { id: MACHINE, gates }).result).resolves.toBeDefined()
    const typo = described(standard, { id: MACHINE, gates: { Aprove: {} } }).result
    await expect(typo).rejects.toMatchObject({
      code: 'misconfigured',
      message: expect.stringContaining('its states are Both, Each, Approve, Ask'),
    })
  })
  it('only warns of a missing state behind an alias, whose versions may have it', async () => {
    const warnings: string[] = []
    const clients = scriptedClients({ DescribeStateMachine: standard })
    const backend = stepFunctions({ clients, warn: (message) => warnings.push(message) })
    const workflow = { id: `${MACHINE}:PROD`, gates: { Aprove: {} } }
    await expect(backend.describe(workflow, context)).resolves.toBeDefined()
    expect(warnings).toEqual([expect.stringContaining('has no state "Aprove"')])
    const version = { ...workflow, id: `${MACHINE}:7` }
    await expect(backend.describe(version, context)).rejects.toMatchObject({ code: 'misconfigured' })
  })
  it('refuses an answer that no form can ask for', async () => {
    const nested = { type: 'object', properties: { list: { type: 'array' } } }
    for (const schema of [nested, { type: 'string' }, {}]) {
      const result = described(standard, { id: MACHINE, gates: { Approve: { schema } } }).result
      await expect(result).rejects.toMatchObject({ code: 'misconfigured' })
    }
  })
})

describe('discover', () => {
  const machine = (name: string) => ({
    name,
    stateMachineArn: `arn:aws:states:us-east-1:123456789012:stateMachine:${name}`,
  })
  async function discovered(filter = {}) {
    const clients = scriptedClients({
      ListStateMachines: [
        { stateMachines: [machine('a1'), machine('b1')], nextToken: 'more' },
        { stateMachines: [], nextToken: 'last' },
        { stateMachines: [machine('a2')] },
      ],
    })
    const found: string[] = []
    for await (const { title } of stepFunctions({ clients }).discover?.(filter, context) ?? []) {
      found.push(title ?? '')
    }
    return { found, clients }
  }
  it('goes on to the last page, over an empty one', async () => {
    const { found, clients } = await discovered()
    expect(found).toEqual(['a1', 'b1', 'a2'])
    expect(clients.sent.map((call) => call.input.nextToken)).toEqual([undefined, 'more', 'last'])
  })
  it('keeps to a prefix', async () => {
    expect((await discovered({ prefix: 'a' })).found).toEqual(['a1', 'a2'])
  })
  it('throws what AWS refuses', async () => {
    const clients = scriptedClients({ ListStateMachines: awsError('AccessDeniedException') })
    const all = stepFunctions({ clients }).discover?.({}, context)
    await expect(all?.[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'denied' })
  })
})
