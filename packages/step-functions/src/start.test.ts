import { describe, expect, it } from 'vitest'
import { stepFunctions } from './backend.js'
import { INPUT_LIMIT_BYTES } from './start.js'
import {
  awsError,
  context,
  EXECUTION,
  MACHINE,
  networkError,
  scriptedClients,
} from './testing/scripted-clients.js'

const workflow = { id: MACHINE }
const run = { id: EXECUTION, attempt: 0 }

function start(
  script: Parameters<typeof scriptedClients>[0],
  input: Record<string, unknown> = { a: 1 },
  id = MACHINE,
) {
  const clients = scriptedClients(script)
  const result = stepFunctions({ clients }).start({ id }, 'rb-1', input as { a: number }, context)
  return result.then((given) => ({ result: given, clients }))
}

describe('start', () => {
  it('names the execution by the run key and sends equal inputs as equal texts', async () => {
    const { result, clients } = await start({ StartExecution: { executionArn: EXECUTION } }, { b: 2, a: 1 })
    expect(result).toEqual({ kind: 'started', run })
    expect(clients.sent).toEqual([
      {
        client: 'starts',
        command: 'StartExecution',
        input: { stateMachineArn: MACHINE, name: 'rb-1', input: '{"a":1,"b":2}' },
      },
    ])
  })
  it.each([':7', ':PROD'])('starts the version or alias that the tool names: %s', async (qualifier) => {
    const { clients } = await start({ StartExecution: { executionArn: EXECUTION } }, {}, MACHINE + qualifier)
    expect(clients.sent[0]?.input.stateMachineArn).toBe(MACHINE + qualifier)
  })
  it.each([
    ['ThrottlingException', 'throttled'],
    ['AccessDeniedException', 'denied'],
    ['ExpiredTokenException', 'unauthenticated'],
    ['UnrecognizedClientException', 'unauthenticated'],
    ['StateMachineDoesNotExist', 'workflow_not_found'],
    ['StateMachineDeleting', 'workflow_not_found'],
    ['ExecutionLimitExceeded', 'throttled'],
    ['InvalidExecutionInput', 'invalid_input'],
    ['KmsAccessDeniedException', 'denied'],
  ])('%s, answered to the only attempt, is refused', async (name, code) => {
    const { result } = await start({ StartExecution: awsError(name) })
    expect(result).toMatchObject({ kind: 'refused', error: { code } })
  })
  it.each(['ThrottlingException', 'AccessDeniedException', 'ExpiredTokenException'])(
    '%s, answered to a second attempt, is unknown',
    async (name) => {
      const { result } = await start({ StartExecution: awsError(name, '', 400, 2) })
      expect(result).toMatchObject({ kind: 'unknown', error: { code: 'unknown_outcome' } })
    },
  )
  it.each([
    ['a reset', networkError('ECONNRESET')],
    ['a time-out', Object.assign(new Error('late'), { name: 'TimeoutError' })],
    ['an abort', Object.assign(new Error('left'), { name: 'AbortError' })],
    ['a 500', awsError('InternalFailure', '', 500)],
    ['a 503', awsError('ServiceUnavailable', '', 503)],
    ['a refusal of something in between', awsError('UnknownError', '', 403)],
    ['an unknown name', awsError('BrandNewException')],
    ['something that is no error', { name: 1 } as unknown as Error],
    ['an answer without an ARN', {}],
  ])('%s is unknown', async (_, answer) => {
    const thrown =
      answer instanceof Error || !('name' in answer) ? answer : () => Promise.reject(answer) as never
    const { result } = await start({ StartExecution: thrown })
    expect(result).toMatchObject({ kind: 'unknown', error: { code: 'unknown_outcome' } })
    if (result.kind === 'unknown') expect(result.error.message).toMatch(/may have started/)
  })
  it('is refused without credentials, since nothing is sent', async () => {
    const error = Object.assign(new Error('none'), { name: 'CredentialsProviderError' })
    const { result } = await start({ StartExecution: error })
    expect(result).toMatchObject({ kind: 'refused', error: { code: 'unauthenticated' } })
  })
  it('refuses an input over the limit before anything is sent, and takes one at the limit', async () => {
    const frame = JSON.stringify({ text: '' }).length
    const fits = { text: 'a'.repeat(INPUT_LIMIT_BYTES - frame) }
    const script = { StartExecution: { executionArn: EXECUTION } }
    expect((await start(script, fits)).result.kind).toBe('started')
    const wide = { text: `${fits.text.slice(1)}ä` }
    const { result, clients } = await start(script, wide)
    expect(result).toMatchObject({ kind: 'refused', error: { code: 'too_large' } })
    expect(clients.sent).toEqual([])
  })
  it('refuses what is not the ARN of a state machine', async () => {
    const { result } = await start({}, {}, 'deploy')
    expect(result).toMatchObject({ kind: 'refused', error: { code: 'misconfigured' } })
  })
})

describe('ExecutionAlreadyExists under our own run key', () => {
  const exists = awsError('ExecutionAlreadyExists')
  it('is our run if it has our input, however AWS writes it, and whatever attempt it is at', async () => {
    const described = { status: 'SUCCEEDED', input: '{ "a": 1 }', redriveCount: 2 }
    const { result, clients } = await start({ StartExecution: exists, DescribeExecution: described })
    expect(result).toEqual({ kind: 'started', run })
    expect(clients.sent[1]?.client).toBe('writes')
  })
  it('is ours if AWS does not show the input', async () => {
    const { result } = await start({ StartExecution: exists, DescribeExecution: { status: 'RUNNING' } })
    expect(result).toEqual({ kind: 'started', run })
  })
  it('is refused with another input', async () => {
    const described = { status: 'RUNNING', input: '{"a":2}' }
    const { result } = await start({ StartExecution: exists, DescribeExecution: described })
    expect(result).toMatchObject({ kind: 'refused', error: { code: 'conflict' } })
  })
  it('is unknown when it can not be described', async () => {
    const described = awsError('ThrottlingException')
    const { result } = await start({ StartExecution: exists, DescribeExecution: described })
    expect(result.kind).toBe('unknown')
  })
})

describe('find', () => {
  it('asks for the one ARN the run can have, without version or alias', async () => {
    const clients = scriptedClients({ DescribeExecution: { status: 'FAILED', redriveCount: 3 } })
    const found = await stepFunctions({ clients }).find({ id: `${MACHINE}:PROD` }, 'rb-1', context)
    expect(found).toEqual({ kind: 'found', run })
    expect(clients.sent[0]?.input.executionArn).toBe(EXECUTION)
  })
  it('is absent only while the state machine can be read', async () => {
    const gone = awsError('ExecutionDoesNotExist')
    const readable = scriptedClients({ DescribeExecution: gone, DescribeStateMachine: {} })
    expect(await stepFunctions({ clients: readable }).find(workflow, 'rb-1', context)).toEqual({
      kind: 'absent',
    })
    const denied = scriptedClients({
      DescribeExecution: gone,
      DescribeStateMachine: awsError('AccessDeniedException'),
    })
    const result = await stepFunctions({ clients: denied }).find(workflow, 'rb-1', context)
    expect(result).toMatchObject({ kind: 'unreadable', error: { code: 'denied' } })
  })
})
