import type { GateResponse } from '@runbridge/core'
import { describe, expect, it } from 'vitest'
import { stepFunctions } from './backend.js'
import { DECLINED } from './failure.js'
import {
  awsError,
  context,
  EXECUTION,
  history,
  historyPages,
  MACHINE,
  networkError,
  scriptedClients,
} from './testing/scripted-clients.js'

const TOKEN = 'AQCEAAAAKgAAAAMAAAAAAAAAAQ'.padEnd(180, 'xY9-_z')
const OTHER = 'AQCEAAAAKgAAAAMAAAAAAAAAAQ'.padEnd(180, 'otherT')
const run = { id: EXECUTION, attempt: 0 }
const gate = { id: 'event-3', step: 'Approve', prompt: '', schema: {} }
const yes: GateResponse = { action: 'accept', content: { b: 1, a: true } }
const no: GateResponse = { action: 'decline' }

type Steps = [number, number, string, object?][]

/** A task that waits with these parameters; `later` is what happened to it since. */
function events(parameters: unknown, ...later: Steps) {
  const details = { resource: 'sendMessage.waitForTaskToken', parameters: JSON.stringify(parameters) }
  return history(
    [1, 0, 'ExecutionStarted'],
    [2, 0, 'TaskStateEntered', { name: 'Approve' }],
    [3, 2, 'TaskScheduled', details],
    [4, 3, 'TaskStarted'],
    ...later,
  )
}
const plain = { MessageBody: { TaskToken: TOKEN } }

interface Given {
  parameters?: unknown
  /** What the history shows before the answer, and after it. */
  before?: Steps
  after?: Steps
  answer?: object | Error
  response?: GateResponse
  gateId?: string
  tokenField?: string
}

async function answer(given: Given) {
  const { parameters = plain, before = [], after = [], response = yes } = given
  let sent = false
  const settle = () => {
    sent = true
    return given.answer ?? {}
  }
  const clients = scriptedClients({
    GetExecutionHistory: (input) =>
      historyPages(() => events(parameters, ...before, ...(sent ? after : [])))(input),
    SendTaskSuccess: settle as () => object,
    SendTaskFailure: settle as () => object,
  })
  const gates = { Approve: { tokenField: given.tokenField } }
  const result = await stepFunctions({ clients }).answer(
    { id: `${MACHINE}:PROD`, gates },
    run,
    { ...gate, id: given.gateId ?? gate.id },
    response,
    context,
  )
  const text = result.kind === 'failed' ? result.error.message : ''
  expect(text).not.toContain(TOKEN)
  return { result, clients, writes: clients.sent.filter((call) => call.command.startsWith('SendTask')) }
}

describe('an answer', () => {
  it('that is accepted is the output of the task', async () => {
    const { result, clients, writes } = await answer({})
    expect(result).toEqual({ kind: 'delivered' })
    expect(writes).toEqual([
      {
        client: 'writes',
        command: 'SendTaskSuccess',
        input: { taskToken: TOKEN, output: '{"a":true,"b":1}' },
      },
    ])
    expect(clients.sent.every((call) => call.client === 'writes')).toBe(true)
  })
  it('that is declined fails the task under a name that it can catch', async () => {
    const { result, writes } = await answer({ response: no })
    expect(result).toEqual({ kind: 'delivered' })
    expect(writes[0]).toMatchObject({
      command: 'SendTaskFailure',
      input: { taskToken: TOKEN, error: DECLINED },
    })
  })
  it.each([
    ['in JSON text', { MessageBody: JSON.stringify({ TaskToken: TOKEN }) }],
    ['under another spelling', { Payload: { task_token: TOKEN } }],
    ['under any name', { Payload: { callback: TOKEN } }],
    ['inside a text', { Message: `Approve at https://x.example/?token=${TOKEN}` }],
    ['in a list', { Entries: [{ Detail: { taskToken: TOKEN } }] }],
    ['beside another that is not called so', { TaskToken: TOKEN, parent: OTHER }],
  ])('finds the token %s', async (_, parameters) => {
    const { writes } = await answer({ parameters })
    expect(writes[0]?.input.taskToken).toBe(TOKEN)
  })
  it('takes the field that the configuration names', async () => {
    const parameters = { own: TOKEN, TaskToken: OTHER }
    expect((await answer({ parameters, tokenField: 'own' })).writes[0]?.input.taskToken).toBe(TOKEN)
  })
  it.each([
    ['there is none', { QueueUrl: 'https://q' }],
    ['there are two', { a: { TaskToken: TOKEN }, b: { TaskToken: OTHER } }],
    ['there are no parameters', null],
  ])('is never sent with a guess: %s', async (_, parameters) => {
    const { result, writes } = await answer({ parameters })
    expect(result).toMatchObject({ kind: 'failed', error: { code: 'misconfigured' } })
    expect(writes).toEqual([])
  })
  it.each(['event-2', 'event-99', 'event-', 'x', 'event-3 '])(
    'to no gate of the run fails: %s',
    async (gateId) => {
      const { result, writes } = await answer({ gateId })
      expect(result).toMatchObject({ kind: 'failed', error: { code: 'invalid_input' } })
      expect(writes).toEqual([])
    },
  )
})

describe('what closed the task decides', () => {
  const succeeded = (output: unknown): Steps => [[5, 4, 'TaskSucceeded', { output: JSON.stringify(output) }]]
  const failed = (error: string): Steps => [[5, 4, 'TaskFailed', { error }]]
  const ours = succeeded({ a: true, b: 1 })

  it.each([
    ['our answer', yes, ours, 'delivered'],
    ['another answer', yes, succeeded({ a: false }), 'too_late'],
    ['a failure', yes, failed('Boom'), 'too_late'],
    ['our decline', no, failed(DECLINED), 'delivered'],
    ['another failure', no, failed('Boom'), 'too_late'],
    ['a success instead of a decline', no, succeeded({}), 'too_late'],
    ['its time-out', yes, [[5, 4, 'TaskTimedOut']], 'too_late'],
    ['a failed sibling', yes, [[5, 4, 'TaskStateAborted']], 'too_late'],
    ['a stop', yes, [[5, 0, 'ExecutionAborted']], 'too_late'],
  ] as [string, GateResponse, Steps, string][])('%s', async (_, response, steps, kind) => {
    const known = await answer({ response, before: steps })
    expect(known.result).toEqual({ kind })
    expect(known.writes).toEqual([])
    for (const name of ['TaskTimedOut', 'TaskDoesNotExist', 'InvalidToken']) {
      const told = await answer({ response, after: steps, answer: awsError(name) })
      expect(told.result, name).toEqual({ kind })
      expect(told.writes).toHaveLength(1)
    }
  })
  it('and not what happened in another branch', async () => {
    const beside: Steps = [
      [5, 1, 'TaskStateEntered', { name: 'Other' }],
      [6, 5, 'TaskScheduled', { resource: 'invoke' }],
      [7, 6, 'TaskSucceeded', { output: '{"a":true,"b":1}' }],
    ]
    const { result, writes } = await answer({ before: beside })
    expect(result).toEqual({ kind: 'delivered' })
    expect(writes).toHaveLength(1)
  })
  it('and while the history does not tell, nothing is claimed', async () => {
    const { result } = await answer({ answer: awsError('TaskTimedOut') })
    expect(result).toMatchObject({ kind: 'failed', error: { code: 'unknown_outcome' } })
    const { result: invalid } = await answer({ answer: awsError('InvalidToken') })
    expect(invalid).toMatchObject({ kind: 'failed', error: { code: 'misconfigured' } })
  })
})

describe('failures', () => {
  it.each([
    [awsError('ThrottlingException'), 'throttled'],
    [awsError('ExpiredTokenException'), 'unauthenticated'],
    [networkError('ECONNRESET'), 'unavailable'],
    [awsError('InvalidOutput', `the output of ${TOKEN}`), 'invalid_input'],
  ])('%s', async (error, code) => {
    expect((await answer({ answer: error })).result).toMatchObject({ kind: 'failed', error: { code } })
  })
  it('name the permission that is missing, on the state machine without its alias', async () => {
    const { result } = await answer({ answer: awsError('AccessDeniedException') })
    if (result.kind !== 'failed') throw new Error(result.kind)
    expect(result.error.message).toContain(`states:SendTaskSuccess on ${MACHINE};`)
  })
})
