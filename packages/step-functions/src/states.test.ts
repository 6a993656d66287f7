import { ExecutionStatus } from '@aws-sdk/client-sfn'
import { describe, expect, it } from 'vitest'
import { stepFunctions } from './backend.js'
import { CANCELLED, CAUSE_LIMIT_BYTES } from './failure.js'
import { STATE_TABLE, STATES } from './states.js'
import {
  awsError,
  EXECUTION,
  history,
  historyPages,
  look,
  MACHINE,
  networkError,
  scriptedClients,
} from './testing/scripted-clients.js'

const workflow = { id: MACHINE }
const startDate = new Date(1000)
const stopDate = new Date(4500)

/** One look at an execution that AWS describes like this. */
async function seen(
  described: object | Error,
  options: { gates?: boolean; progress?: boolean; events?: unknown[] } = {},
) {
  const warnings: string[] = []
  const answer = described instanceof Error ? described : { startDate, executionArn: EXECUTION, ...described }
  const clients = scriptedClients({
    DescribeExecution: answer,
    DescribeStateMachine: { name: 'deploy', type: 'STANDARD' },
    GetExecutionHistory: historyPages(() => (options.events ?? []) as { id: number }[]),
  })
  const backend = stepFunctions({ clients, warn: (message) => warnings.push(message) })
  const result = await backend.get(
    workflow,
    { id: EXECUTION, attempt: 0 },
    { ...look, gates: options.gates ?? false, progress: options.progress ?? false },
  )
  return { result, warnings, clients, snapshot: result.kind === 'snapshot' ? result.snapshot : undefined }
}

describe('RUNNING', () => {
  it('is running, and its message is the current state', async () => {
    const events = history([1, 0, 'ExecutionStarted'], [2, 0, 'TaskStateEntered', { name: 'Charge card' }])
    const { snapshot } = await seen({ status: 'RUNNING' }, { progress: true, events })
    expect(snapshot).toMatchObject({
      state: 'running',
      nativeState: 'RUNNING',
      startedAt: 1000,
      progress: { message: 'Charge card since 2026-01-02T03:04:07Z' },
    })
    expect(snapshot?.endedAt).toBeUndefined()
  })
  it('is waiting while an enabled token is open, with the question as its message', async () => {
    const events = history(
      [1, 0, 'ExecutionStarted'],
      [2, 0, 'TaskStateEntered', { name: 'Approve' }],
      [3, 2, 'TaskScheduled', { resource: 'sendMessage.waitForTaskToken', parameters: '{}' }],
    )
    const { snapshot } = await seen({ status: 'RUNNING' }, { gates: true, progress: true, events })
    expect(snapshot?.state).toBe('waiting')
    expect(snapshot?.progress?.message).toBe(snapshot?.gates[0]?.prompt)
    const { snapshot: off, clients } = await seen({ status: 'RUNNING' }, { events })
    expect(off?.state).toBe('running')
    expect(clients.sent.map((call) => call.command)).toEqual(['DescribeExecution'])
  })
})

it('RUNNING is told without its progress when the history can not be read', async () => {
  for (const name of ['AccessDeniedException', 'ThrottlingException']) {
    const clients = scriptedClients({
      DescribeExecution: { executionArn: EXECUTION, status: 'RUNNING' },
      GetExecutionHistory: awsError(name),
    })
    const backend = stepFunctions({ clients })
    const run = { id: EXECUTION, attempt: 0 }
    const plain = await backend.get(workflow, run, { ...look, progress: true })
    expect(plain).toMatchObject({ kind: 'snapshot', snapshot: { state: 'running' } })
    // With gates on it may be waiting, and nobody knows.
    expect((await backend.get(workflow, run, { ...look, gates: true })).kind).toBe('unreadable')
  }
})

describe('SUCCEEDED', () => {
  it('is succeeded, with times that tell the duration', async () => {
    const { snapshot } = await seen({ status: 'SUCCEEDED', output: '{"ok":true}', stopDate })
    expect(snapshot).toMatchObject({
      state: 'succeeded',
      startedAt: 1000,
      endedAt: 4500,
      output: { ok: true },
    })
    expect(snapshot?.outputOmitted).toBeUndefined()
  })
  it.each([
    ['"text"', 'text'],
    ['3', 3],
    ['null', null],
    ['[1]', [1]],
  ])('parses an output that is no object: %s', async (output, expected) => {
    expect((await seen({ status: 'SUCCEEDED', output })).snapshot?.output).toEqual(expected)
  })
  it('says why there is no output', async () => {
    const { snapshot } = await seen({ status: 'SUCCEEDED', outputDetails: { included: false } })
    expect(snapshot).not.toHaveProperty('output')
    expect(snapshot?.outputOmitted).toMatch(/AWS left it out/)
    expect((await seen({ status: 'SUCCEEDED' })).snapshot?.outputOmitted).toMatch(/keeps no output/)
  })
})

describe('FAILED', () => {
  const events = history(
    [1, 0, 'ExecutionStarted'],
    [2, 0, 'ParallelStateEntered', { name: 'Both' }],
    [3, 2, 'ParallelStateStarted'],
    [4, 3, 'TaskStateEntered', { name: 'Charge' }],
    [5, 3, 'TaskStateEntered', { name: 'Ship' }],
    [6, 4, 'TaskScheduled', { resource: 'invoke' }],
    [7, 6, 'TaskFailed', { error: 'CardDeclined' }],
    [8, 5, 'TaskStateAborted'],
    [9, 7, 'ParallelStateFailed'],
    [10, 9, 'ExecutionFailed', { error: 'CardDeclined' }],
  )
  it('is failed, with error, cause and the failing state', async () => {
    const described = { status: 'FAILED', error: 'CardDeclined', cause: 'No funds.', stopDate }
    const { snapshot } = await seen(described, { progress: true, events })
    expect(snapshot).toMatchObject({ state: 'failed', endedAt: 4500 })
    expect(snapshot?.error).toEqual({ code: 'CardDeclined', message: 'No funds.', step: 'Charge' })
    expect(snapshot?.links[0]?.url).toContain(EXECUTION)
  })
  it('shows a cause that is JSON as detail, and what it says as message', async () => {
    const cause = JSON.stringify({ errorType: 'Error', errorMessage: 'No funds.', trace: [] })
    const { snapshot } = await seen({ status: 'FAILED', error: 'Error', cause })
    expect(snapshot?.error).toMatchObject({ code: 'Error', message: 'No funds.' })
    expect(JSON.parse(snapshot?.error?.detail ?? '')).toEqual(JSON.parse(cause))
  })
  it('cuts a long cause and says so', async () => {
    const { snapshot } = await seen({ status: 'FAILED', error: 'E', cause: 'ä'.repeat(20_000) })
    const message = snapshot?.error?.message ?? ''
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(CAUSE_LIMIT_BYTES)
    expect(message).toMatch(/\[cut: \d+ of 40000 bytes\]$/)
  })
  it('keeps an uncaught task timeout a failure, with its name verbatim', async () => {
    const { snapshot } = await seen({ status: 'FAILED', error: 'States.Timeout' })
    expect(snapshot).toMatchObject({ state: 'failed', error: { code: 'States.Timeout' } })
  })
  it('has a code where the state machine gave none', async () => {
    expect((await seen({ status: 'FAILED' })).snapshot?.error).toEqual({ code: 'FAILED', message: '' })
  })
  it('is told without its state when the history may not be read, and not told while it is throttled', async () => {
    const failed = { executionArn: EXECUTION, status: 'FAILED', error: 'E' }
    for (const [name, kind] of [
      ['AccessDeniedException', 'snapshot'],
      ['InternalFailure', 'snapshot'],
      ['ThrottlingException', 'unreadable'],
    ] as const) {
      const clients = scriptedClients({ DescribeExecution: failed, GetExecutionHistory: awsError(name) })
      const asked = { ...look, progress: true }
      const result = await stepFunctions({ clients }).get(workflow, { id: EXECUTION, attempt: 0 }, asked)
      expect(result.kind, name).toBe(kind)
    }
  })
})

it('TIMED_OUT is timed_out, as States.Timeout', async () => {
  const { snapshot } = await seen({ status: 'TIMED_OUT', stopDate })
  expect(snapshot).toMatchObject({
    state: 'timed_out',
    endedAt: 4500,
    error: { code: 'States.Timeout', message: 'The execution timed out.' },
  })
})

describe('ABORTED', () => {
  it('is cancelled, and says that it was stopped through this server', async () => {
    const { snapshot } = await seen({ status: 'ABORTED', error: CANCELLED, cause: 'not needed' })
    expect(snapshot).toMatchObject({
      state: 'cancelled',
      error: { code: CANCELLED, message: 'Stopped through this server: not needed' },
    })
  })
  it('says that it was stopped from outside, with what is known of why', async () => {
    const { snapshot } = await seen({ status: 'ABORTED', error: 'Ops', cause: 'maintenance' })
    const words = { code: 'Ops', message: 'Stopped outside of this server: maintenance' }
    expect(snapshot?.error).toEqual(words)
    const { snapshot: bare } = await seen({ status: 'ABORTED' })
    expect(bare?.error).toEqual({ code: 'ABORTED', message: 'Stopped outside of this server.' })
  })
})

it('PENDING_REDRIVE is running, waiting for the redrive', async () => {
  const { snapshot, warnings } = await seen({ status: 'PENDING_REDRIVE' })
  expect(snapshot).toMatchObject({
    state: 'running',
    nativeState: 'PENDING_REDRIVE',
    progress: { message: 'waits to be redriven' },
  })
  expect(warnings).toEqual([])
})

it.each(['PAUSED', 'toString', ''])(
  'a status that nobody knows is running, with the raw word and a warning: %s',
  async (status) => {
    const { snapshot, warnings } = await seen({ status })
    expect(snapshot).toMatchObject({ state: 'running', nativeState: status })
    expect(snapshot?.progress?.message).toContain(status)
    expect(warnings).toHaveLength(1)
  },
)

describe('not found', () => {
  const gone = awsError('ExecutionDoesNotExist')
  it('is absent while the state machine can be read', async () => {
    expect((await seen(gone)).result).toEqual({ kind: 'absent' })
  })
  it.each([
    ['StateMachineDoesNotExist', 'workflow_not_found'],
    ['AccessDeniedException', 'denied'],
    ['ThrottlingException', 'throttled'],
  ])('is unreadable while it can not: %s', async (name, code) => {
    const clients = scriptedClients({ DescribeExecution: gone, DescribeStateMachine: awsError(name) })
    const result = await stepFunctions({ clients }).get(workflow, { id: EXECUTION, attempt: 0 }, look)
    expect(result).toMatchObject({ kind: 'unreadable', error: { code } })
  })
})

describe('unreadable', () => {
  it.each([
    ['denied', awsError('AccessDeniedException'), 'denied'],
    ['expired', awsError('ExpiredTokenException'), 'unauthenticated'],
    ['throttled', awsError('ThrottlingException'), 'throttled'],
    ['down', awsError('ServiceUnavailable', '', 503), 'unavailable'],
    ['unreachable', networkError('ECONNREFUSED'), 'unavailable'],
    ['a key that may not be used', awsError('KmsAccessDeniedException'), 'denied'],
  ])('%s', async (_, error, code) => {
    expect((await seen(error)).result).toMatchObject({ kind: 'unreadable', error: { code } })
  })
  it('wrong region', async () => {
    const clients = { ...scriptedClients({}), region: 'eu-west-1' }
    const result = await stepFunctions({ clients }).get(workflow, { id: EXECUTION, attempt: 0 }, look)
    expect(result).toMatchObject({ kind: 'unreadable', error: { code: 'misconfigured' } })
    expect(JSON.stringify(result)).not.toContain('undefined')
  })
})

it('the table names every status of the SDK and every cell has a word', () => {
  expect(Object.keys(STATES).sort()).toEqual(Object.values(ExecutionStatus).sort())
  for (const row of STATE_TABLE) expect(row.native !== '' && row.state !== '').toBe(true)
  expect(STATE_TABLE.map((row) => row.native)).toEqual(expect.arrayContaining(Object.values(ExecutionStatus)))
})
