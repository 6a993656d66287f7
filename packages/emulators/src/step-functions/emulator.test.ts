import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CreateStateMachineAliasCommand,
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  DescribeStateMachineAliasCommand,
  DescribeStateMachineCommand,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  ListStateMachinesCommand,
  ListTagsForResourceCommand,
  PublishStateMachineVersionCommand,
  StartExecutionCommand,
  StartSyncExecutionCommand,
  StopExecutionCommand,
  UpdateStateMachineCommand,
} from '@aws-sdk/client-sfn'
import { describe, expect, it, onTestFinished } from 'vitest'
import { emulated, gate, historyOf, outline, pass, sfnClient } from './emulator-fixture.js'
import { startStepFunctionsEmulator } from './index.js'

describe('an execution', () => {
  it('runs, and shows what AWS shows', async () => {
    const { emulator, client } = await emulated({ stateMachines: { hello: pass } })
    const stateMachineArn = emulator.stateMachineArn('hello')
    const started = await client.send(
      new StartExecutionCommand({ stateMachineArn, name: 'one', input: '{"a":1}' }),
    )
    const executionArn = started.executionArn as string
    expect(executionArn).toBe('arn:aws:states:us-east-1:000000000000:execution:hello:one')
    await emulator.ended(executionArn)
    const { $metadata, ...described } = await client.send(new DescribeExecutionCommand({ executionArn }))
    expect(described).toEqual({
      executionArn,
      stateMachineArn,
      name: 'one',
      status: 'SUCCEEDED',
      startDate: started.startDate,
      stopDate: expect.any(Date),
      input: '{"a":1}',
      inputDetails: { included: true },
      output: '{"a":1}',
      outputDetails: { included: true },
      redriveCount: 0,
      redriveStatus: 'NOT_REDRIVABLE',
      redriveStatusReason: 'Execution is SUCCEEDED and cannot be redriven',
    })
    expect(outline(await historyOf(client, executionArn))).toEqual([
      '1<0 ExecutionStarted',
      '2<0 PassStateEntered',
      '3<2 PassStateExited',
      '4<3 ExecutionSucceeded',
    ])
  })

  it('stops, once and for good', async () => {
    const { emulator, client } = await emulated({ stateMachines: { gate } })
    const stateMachineArn = emulator.stateMachineArn('gate')
    const { executionArn } = await client.send(
      new StartExecutionCommand({ stateMachineArn, input: '{"version":1}' }),
    )
    await client.send(new StopExecutionCommand({ executionArn, error: 'Stopped', cause: 'by hand' }))
    const { status, error, cause, redriveStatus } = await client.send(
      new DescribeExecutionCommand({ executionArn }),
    )
    expect({ status, error, cause, redriveStatus }).toEqual({
      status: 'ABORTED',
      error: 'Stopped',
      cause: 'by hand',
      redriveStatus: 'REDRIVABLE',
    })
    await client.send(new StopExecutionCommand({ executionArn }))
    const events = await historyOf(client, executionArn as string)
    expect(events.filter(({ type }) => type === 'ExecutionAborted')).toHaveLength(1)
    expect(emulator.openTasks()).toEqual([])
  })

  it('times out by the TimeoutSeconds of its machine', async () => {
    const slow = { StartAt: 'W', TimeoutSeconds: 1, States: { W: { Type: 'Wait', Seconds: 60, End: true } } }
    const { emulator, client } = await emulated({ stateMachines: { slow } })
    const { executionArn } = await client.send(
      new StartExecutionCommand({ stateMachineArn: emulator.stateMachineArn('slow') }),
    )
    expect(await emulator.ended(executionArn as string)).toMatchObject({ status: 'TIMED_OUT' })
    const events = await historyOf(client, executionArn as string)
    expect(events.at(-1)?.type).toBe('ExecutionTimedOut')
  })

  it('refuses what AWS refuses', async () => {
    const { emulator, client } = await emulated({ stateMachines: { hello: pass } })
    const stateMachineArn = emulator.stateMachineArn('hello')
    const executionArn = emulator.executionArn('hello', 'none')
    const refusal = (call: Promise<unknown>) =>
      call.then(
        () => 'no error',
        (error: Error) => error.name,
      )
    expect(await refusal(client.send(new StartExecutionCommand({ stateMachineArn: 'hello' })))).toBe(
      'InvalidArn',
    )
    expect(
      await refusal(client.send(new StartExecutionCommand({ stateMachineArn: `${stateMachineArn}x` }))),
    ).toBe('StateMachineDoesNotExist')
    expect(await refusal(client.send(new StartExecutionCommand({ stateMachineArn, name: 'a b' })))).toBe(
      'InvalidName',
    )
    expect(
      await refusal(client.send(new StartExecutionCommand({ stateMachineArn, name: 'a'.repeat(81) }))),
    ).toBe('ValidationException')
    expect(await refusal(client.send(new StartExecutionCommand({ stateMachineArn, input: 'no' })))).toBe(
      'InvalidExecutionInput',
    )
    const large = JSON.stringify('é'.repeat(131_072))
    expect(await refusal(client.send(new StartExecutionCommand({ stateMachineArn, input: large })))).toBe(
      'InvalidExecutionInput',
    )
    expect(await refusal(client.send(new DescribeExecutionCommand({ executionArn })))).toBe(
      'ExecutionDoesNotExist',
    )
    expect(
      await refusal(client.send(new StopExecutionCommand({ executionArn, error: 'e'.repeat(257) }))),
    ).toBe('ExecutionDoesNotExist')
    expect(await refusal(client.send(new ListExecutionsCommand({ stateMachineArn, maxResults: 1001 })))).toBe(
      'ValidationException',
    )
    expect(await refusal(client.send(new ListExecutionsCommand({ stateMachineArn, nextToken: 'x' })))).toBe(
      'InvalidToken',
    )
    expect(await refusal(client.send(new StartSyncExecutionCommand({ stateMachineArn })))).toBe(
      'StateMachineTypeNotSupported',
    )
  })
})

describe('lists', () => {
  it('pages executions newest first, by status', async () => {
    const { emulator, client } = await emulated({ stateMachines: { hello: pass } })
    const stateMachineArn = emulator.stateMachineArn('hello')
    for (const name of ['a', 'b', 'c']) {
      const { executionArn } = await client.send(new StartExecutionCommand({ stateMachineArn, name }))
      await emulator.ended(executionArn as string)
    }
    const first = await client.send(new ListExecutionsCommand({ stateMachineArn, maxResults: 2 }))
    expect(first.executions?.map(({ name }) => name)).toEqual(['c', 'b'])
    const { nextToken } = first
    const second = await client.send(new ListExecutionsCommand({ stateMachineArn, maxResults: 2, nextToken }))
    expect(second.executions?.map(({ name }) => name)).toEqual(['a'])
    expect(second.nextToken).toBeUndefined()
    const running = await client.send(new ListExecutionsCommand({ stateMachineArn, statusFilter: 'RUNNING' }))
    expect(running.executions).toEqual([])
  })

  it.each([true, false])(
    'pages a history, reverseOrder %s, the last page without a token',
    async (reverseOrder) => {
      const { emulator, client } = await emulated({ stateMachines: { hello: pass } })
      const stateMachineArn = emulator.stateMachineArn('hello')
      const { executionArn } = await client.send(
        new StartExecutionCommand({ stateMachineArn, input: '{"a":1}' }),
      )
      await emulator.ended(executionArn as string)
      const ids: (number | undefined)[] = []
      let nextToken: string | undefined
      do {
        const page = await client.send(
          new GetExecutionHistoryCommand({
            executionArn,
            maxResults: 2,
            reverseOrder,
            nextToken,
            includeExecutionData: false,
          }),
        )
        ids.push(...(page.events ?? []).map(({ id }) => id))
        expect(JSON.stringify(page.events)).not.toContain('"a"')
        nextToken = page.nextToken
      } while (nextToken)
      expect(ids).toEqual(reverseOrder ? [4, 3, 2, 1] : [1, 2, 3, 4])
    },
  )

  it('lists state machines by name, with no tags', async () => {
    const { emulator, client } = await emulated({
      stateMachines: { b: pass, a: { definition: pass, type: 'EXPRESS' } },
    })
    const { stateMachines } = await client.send(new ListStateMachinesCommand({}))
    expect(stateMachines?.map(({ name, type }) => [name, type])).toEqual([
      ['a', 'EXPRESS'],
      ['b', 'STANDARD'],
    ])
    const resourceArn = emulator.stateMachineArn('a')
    expect((await client.send(new ListTagsForResourceCommand({ resourceArn }))).tags).toEqual([])
  })
})

describe('state machines', () => {
  it('can be created later, published and aliased; executions say which version they run', async () => {
    const { client } = await emulated()
    const create = new CreateStateMachineCommand({
      name: 'late',
      definition: JSON.stringify(pass),
      roleArn: 'arn:role',
    })
    const { stateMachineArn } = await client.send(create)
    expect((await client.send(create)).stateMachineArn).toBe(stateMachineArn)
    const { stateMachineVersionArn } = await client.send(
      new PublishStateMachineVersionCommand({ stateMachineArn }),
    )
    expect(stateMachineVersionArn).toBe(`${stateMachineArn}:1`)
    const routingConfiguration = [{ stateMachineVersionArn, weight: 100 }]
    const { stateMachineAliasArn } = await client.send(
      new CreateStateMachineAliasCommand({ name: 'live', routingConfiguration }),
    )
    expect(await client.send(new DescribeStateMachineAliasCommand({ stateMachineAliasArn }))).toMatchObject({
      name: 'live',
      routingConfiguration,
    })
    const { executionArn } = await client.send(
      new StartExecutionCommand({ stateMachineArn: stateMachineAliasArn }),
    )
    expect(await client.send(new DescribeExecutionCommand({ executionArn }))).toMatchObject({
      stateMachineArn,
      stateMachineVersionArn,
      stateMachineAliasArn,
    })
    const described = await client.send(
      new DescribeStateMachineCommand({ stateMachineArn: stateMachineVersionArn }),
    )
    expect(described).toMatchObject({
      name: 'late',
      type: 'STANDARD',
      stateMachineArn: stateMachineVersionArn,
    })
    const changed = JSON.stringify({ ...pass, Comment: 'changed' })
    const updated = await client.send(
      new UpdateStateMachineCommand({ stateMachineArn, definition: changed, publish: true }),
    )
    expect(updated.stateMachineVersionArn).toBe(`${stateMachineArn}:2`)
    const missing = client.send(new StartExecutionCommand({ stateMachineArn: `${stateMachineArn}:3` }))
    await expect(missing).rejects.toMatchObject({ name: 'StateMachineDoesNotExist' })
  })

  it('are read from files too', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'emulator-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const path = join(folder, 'hello.asl.json')
    await writeFile(path, JSON.stringify(pass))
    const { emulator, client } = await emulated({ stateMachines: { hello: path } })
    const stateMachineArn = emulator.stateMachineArn('hello')
    const { definition } = await client.send(new DescribeStateMachineCommand({ stateMachineArn }))
    expect(JSON.parse(definition ?? '')).toEqual(pass)
  })
})

describe('an EXPRESS machine', () => {
  const failing = { StartAt: 'F', States: { F: { Type: 'Fail', Error: 'Bad', Cause: 'luck' } } }

  it('answers with the outcome, a failure too', async () => {
    const { emulator, client } = await emulated({
      stateMachines: {
        ok: { definition: pass, type: 'EXPRESS' },
        failing: { definition: failing, type: 'EXPRESS' },
      },
    })
    const ok = await client.send(
      new StartSyncExecutionCommand({ stateMachineArn: emulator.stateMachineArn('ok'), input: '{"a":1}' }),
    )
    expect(ok).toMatchObject({ status: 'SUCCEEDED', output: '{"a":1}' })
    const failed = await client.send(
      new StartSyncExecutionCommand({ stateMachineArn: emulator.stateMachineArn('failing') }),
    )
    expect(failed).toMatchObject({ status: 'FAILED', error: 'Bad', cause: 'luck' })
  })

  it('starts anew under the same name, and its executions cannot be described', async () => {
    const { emulator, client } = await emulated({
      stateMachines: { ok: { definition: pass, type: 'EXPRESS' } },
    })
    const start = new StartExecutionCommand({ stateMachineArn: emulator.stateMachineArn('ok'), name: 'same' })
    const { executionArn } = await client.send(start)
    expect((await client.send(start)).executionArn).not.toBe(executionArn)
    for (const command of [
      new DescribeExecutionCommand({ executionArn }),
      new GetExecutionHistoryCommand({ executionArn }),
      new StopExecutionCommand({ executionArn }),
    ]) {
      await expect(client.send(command as DescribeExecutionCommand)).rejects.toMatchObject({
        name: 'InvalidArn',
      })
    }
  })
})

describe('the server', () => {
  it('can start again on the port it had', async () => {
    const first = await startStepFunctionsEmulator()
    await first.close()
    const second = await startStepFunctionsEmulator({ port: Number(new URL(first.url).port) })
    expect(second.url).toBe(first.url)
    const client = sfnClient(second.url)
    expect((await client.send(new ListStateMachinesCommand({}))).stateMachines).toEqual([])
    client.destroy()
    await second.close()
  })

  it('answers to loopback names only, so that no web page reaches it under a name of its own', async () => {
    const { emulator } = await emulated()
    const { port } = new URL(emulator.url)
    const status = (host: string) =>
      new Promise((resolve, reject) => {
        const headers = { host: `${host}:${port}` }
        const sent = request({ port, host: '127.0.0.1', path: '/_emulator/calls', headers }, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
        sent.on('error', reject).end()
      })
    expect([await status('localhost'), await status('rebound.example')]).toEqual([200, 403])
  })

  it('says which actions it serves', async () => {
    const { emulator } = await emulated()
    const response = await fetch(emulator.url, {
      method: 'POST',
      headers: { 'x-amz-target': 'AWSStepFunctions.Nope' },
    })
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { __type: 'UnknownOperationException' },
    ])
  })
})
