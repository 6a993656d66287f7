import {
  DescribeExecutionCommand,
  ListExecutionsCommand,
  type SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn'
import { describe, expect, it } from 'vitest'
import { emulated, gate, pass } from './emulator-fixture.js'

async function hello() {
  const emulation = await emulated({ stateMachines: { hello: pass, gate } })
  const stateMachineArn = emulation.emulator.stateMachineArn('hello')
  const start = (name: string) => emulation.client.send(new StartExecutionCommand({ stateMachineArn, name }))
  return { ...emulation, stateMachineArn, start }
}
const outcome = (call: Promise<{ $metadata: object }>) =>
  call.then(
    () => 'ok',
    (error: Error & { code?: string }) => error.code ?? error.name,
  )
const describeOf = (client: SFNClient, executionArn: string) =>
  outcome(client.send(new DescribeExecutionCommand({ executionArn })))

describe('faults by script', () => {
  it('come in order, one a call', async () => {
    const { emulator, start } = await hello()
    emulator.faults.next(
      'StartExecution',
      { kind: 'error', type: 'ThrottlingException' },
      { kind: 'status', status: 503 },
      { kind: 'none' },
      { kind: 'denied' },
    )
    const outcomes: string[] = []
    for (const name of ['a', 'b', 'c', 'd', 'e']) outcomes.push(await outcome(start(name)))
    expect(outcomes).toEqual(['ThrottlingException', expect.any(String), 'ok', 'AccessDeniedException', 'ok'])
    expect(emulator.executions().map(({ name }) => name)).toEqual(['c', 'e'])
  })

  it('lose the call or only its answer', async () => {
    const { emulator, start } = await hello()
    emulator.faults.next('StartExecution', { kind: 'dropBeforeExecuting' }, { kind: 'dropAfterExecuting' })
    expect(await outcome(start('lost'))).toBe('ECONNRESET')
    expect(await outcome(start('unknown'))).toBe('ECONNRESET')
    expect(emulator.executions().map(({ name }) => name)).toEqual(['unknown'])
    const { starts, byOperation, byExecution } = emulator.calls()
    expect(starts.map(({ name, outcome, fault }) => [name, outcome, fault])).toEqual([
      ['lost', 'none', 'dropBeforeExecuting'],
      ['unknown', 'started', 'dropAfterExecuting'],
    ])
    expect(byOperation).toEqual({ StartExecution: 2 })
    expect(byExecution).toEqual({ lost: { StartExecution: 1 }, unknown: { StartExecution: 1 } })
  })

  it('word a denial as IAM does', async () => {
    const { emulator, client } = await hello()
    const executionArn = emulator.executionArn('hello', 'x')
    emulator.faults.next('DescribeExecution', { kind: 'denied' })
    const call = client.send(new DescribeExecutionCommand({ executionArn }))
    await expect(call).rejects.toThrow(
      `is not authorized to perform: states:DescribeExecution on resource: ${executionArn}`,
    )
  })

  it('hide a new execution from its first readers and from lists', async () => {
    const { emulator, client, start, stateMachineArn } = await hello()
    emulator.faults.next('StartExecution', { kind: 'hide', times: 2 })
    const { executionArn } = await start('late')
    const listed = async () =>
      (await client.send(new ListExecutionsCommand({ stateMachineArn }))).executions?.length
    expect(await listed()).toBe(0)
    expect(await describeOf(client, executionArn as string)).toBe('ExecutionDoesNotExist')
    expect(await describeOf(client, executionArn as string)).toBe('ExecutionDoesNotExist')
    expect(await describeOf(client, executionArn as string)).toBe('ok')
    expect(await listed()).toBe(1)
  })

  it('stand until they are cleared', async () => {
    const { emulator, client } = await hello()
    emulator.faults.always('*', { kind: 'error', type: 'ExpiredTokenException', status: 403 })
    const executionArn = emulator.executionArn('hello', 'x')
    expect(await describeOf(client, executionArn)).toBe('ExpiredTokenException')
    expect(await describeOf(client, executionArn)).toBe('ExpiredTokenException')
    emulator.faults.clear()
    expect(await describeOf(client, executionArn)).toBe('ExecutionDoesNotExist')
  })

  it('forget an execution', async () => {
    const { emulator, client } = await hello()
    const stateMachineArn = emulator.stateMachineArn('gate')
    const { executionArn } = await client.send(
      new StartExecutionCommand({ stateMachineArn, input: '{"version":1}' }),
    )
    emulator.faults.forget(executionArn as string)
    expect(await describeOf(client, executionArn as string)).toBe('ExecutionDoesNotExist')
    expect(emulator.executions()).toEqual([])
  })

  it('delay a call, which starts nothing when the emulator closes meanwhile', async () => {
    const { emulator, start } = await hello()
    emulator.faults.next('StartExecution', { kind: 'delayMs', ms: 20 }, { kind: 'delayMs', ms: 60_000 })
    expect(await outcome(start('late'))).toBe('ok')
    const waiting = outcome(start('never'))
    while (emulator.calls().starts.length < 2) await new Promise((resolve) => setImmediate(resolve))
    await emulator.close()
    expect(await waiting).toBe('ECONNRESET')
    expect(emulator.executions().map(({ name }) => name)).toEqual(['late'])
  })

  it('hang until the emulator closes', async () => {
    const { emulator, start } = await hello()
    emulator.faults.next('StartExecution', { kind: 'hang', afterExecuting: true })
    const hanging = outcome(start('hung'))
    while (emulator.executions().length === 0) await new Promise((resolve) => setImmediate(resolve))
    await emulator.close()
    expect(await hanging).toBe('ECONNRESET')
  })
})

describe('the control routes', () => {
  const post = (url: string, body: object) =>
    fetch(`${url}/_emulator/faults`, { method: 'POST', body: JSON.stringify(body) })

  it('do the same from another process', async () => {
    const { emulator, client, start } = await hello()
    const { url } = emulator
    await post(url, { operation: 'StartExecution', next: [{ kind: 'error', type: 'ThrottlingException' }] })
    expect(await outcome(start('a'))).toBe('ThrottlingException')
    const { executionArn } = await start('a')
    await emulator.ended(executionArn as string)
    await post(url, { hide: { executionArn, times: 1 } })
    expect(await describeOf(client, executionArn as string)).toBe('ExecutionDoesNotExist')
    const get = async (path: string) => (await fetch(`${url}/_emulator/${path}`)).json()
    expect(await get('calls')).toEqual(emulator.calls())
    expect(await get('executions')).toMatchObject([{ name: 'a', status: 'SUCCEEDED', output: '{}' }])
    expect(await get('tasks')).toEqual([])
    await post(url, { operation: '*', always: { kind: 'denied' } })
    expect(await get('faults')).toMatchObject({ '*': { always: { kind: 'denied' } } })
    await post(url, { clear: true })
    await post(url, { forget: executionArn })
    expect(await describeOf(client, executionArn as string)).toBe('ExecutionDoesNotExist')
    await fetch(`${url}/_emulator/calls`, { method: 'DELETE' })
    expect(emulator.calls().starts).toEqual([])
  })

  it('say what is wrong with a request', async () => {
    const { emulator } = await hello()
    const response = await post(emulator.url, { operation: 'Nope', next: [] })
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({ message: expect.stringContaining('not an action') })
    expect((await fetch(`${emulator.url}/_emulator/nope`)).status).toBe(404)
  })
})
