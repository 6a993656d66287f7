import { setTimeout as delay } from 'node:timers/promises'
import type { GetResult, Marks, RunRef, Snapshot } from '@runbridge/core'
import { startStepFunctionsEmulator } from '@runbridge/emulators/step-functions'
import { afterAll, afterEach, expect, it } from 'vitest'
import { stepFunctions } from './backend.js'
import { emulatedClients } from './testing/emulated-engine.js'
import { context, look } from './testing/scripted-clients.js'

const approval = (question: string, more: object = {}) => ({
  Type: 'Task',
  Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
  Parameters: { FunctionName: 'ask', Payload: { 'token.$': '$$.Task.Token', question } },
  ...more,
})
const branch = (name: string, state: object) => ({
  StartAt: name,
  States: { [name]: { ...state, End: true } },
})

let tries = 0
const emulator = await startStepFunctionsEmulator({
  stateMachines: {
    release: {
      StartAt: 'Review',
      States: {
        Review: {
          Type: 'Parallel',
          Branches: [
            branch('Security', approval('Is it safe?')),
            branch('Product', approval('Is it wanted?', { TimeoutSeconds: 3600 })),
            branch('Count', {
              Type: 'Map',
              ItemsPath: '$.items',
              ItemProcessor: branch('One', { Type: 'Pass' }),
            }),
          ],
          End: true,
        },
      },
    },
    abandoned: {
      StartAt: 'Both',
      States: {
        Both: {
          Type: 'Parallel',
          Branches: [branch('Ask', approval('Is it wanted?')), branch('Veto', approval('Any veto?'))],
          Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Rest' }],
          End: true,
        },
        Rest: { Type: 'Wait', Seconds: 600, End: true },
      },
    },
    flaky: {
      StartAt: 'Charge',
      States: {
        Charge: {
          Type: 'Task',
          Resource: 'arn:aws:states:::lambda:invoke',
          Parameters: { FunctionName: 'charge', Payload: {} },
          End: true,
        },
      },
    },
    caught: {
      StartAt: 'Ask',
      States: {
        Ask: approval('Go on?', {
          Catch: [{ ErrorEquals: ['Runbridge.Declined'], Next: 'Declined' }],
          End: true,
        }),
        Declined: { Type: 'Pass', Result: 'declined', End: true },
      },
    },
  },
  tasks: {
    ask: () => 'asked',
    charge: () => {
      tries += 1
      throw Object.assign(new Error('No funds.'), { name: 'CardDeclined' })
    },
  },
})
const clients = emulatedClients(emulator)
const warnings: string[] = []
const backend = stepFunctions({ clients, warn: (message) => warnings.push(message) })
afterEach(() => emulator.faults.clear())
afterAll(async () => {
  clients.close()
  await emulator.close()
})

const promptField = 'Payload.question'
const release = {
  id: emulator.stateMachineArn('release'),
  gates: { Security: { promptField }, Product: { promptField } },
}
const flaky = { id: emulator.stateMachineArn('flaky') }
const caught = { id: emulator.stateMachineArn('caught') }

async function started(workflow: { id: string }, runKey: string, input = {}): Promise<RunRef> {
  const result = await backend.start(workflow, runKey, input, context)
  if (result.kind !== 'started') throw new Error(result.error.message)
  return result.run
}

async function until(workflow: { id: string }, run: RunRef, holds: (snapshot: Snapshot) => boolean) {
  let marks: Marks | undefined
  for (let looks = 0; looks < 500; looks += 1) {
    const result: GetResult = await backend.get(workflow, run, {
      ...look,
      gates: true,
      progress: true,
      ...(marks && { marks }),
    })
    if (result.kind === 'snapshot') {
      if (holds(result.snapshot)) return result.snapshot
      marks = result.marks ?? marks
    }
    await delay(3)
  }
  throw new Error('never seen')
}
const ended = (snapshot: Snapshot) => snapshot.endedAt !== undefined

it('two gates are open at once beside a busy branch, and each takes its own answer', async () => {
  const run = await started(release, 'two-gates', { items: Array.from({ length: 50 }, (_, n) => n) })
  const waiting = await until(release, run, ({ gates }) => gates.length === 2)
  const questions = Object.fromEntries(waiting.gates.map((gate) => [gate.step, gate]))
  expect(questions.Security?.prompt).toBe('Is it safe?')
  expect(questions.Product?.prompt).toBe('Is it wanted?')
  expect(questions.Product?.deadline).toBeGreaterThan(waiting.startedAt ?? 0)
  expect(waiting.progress?.message).toContain('Is it safe?')
  for (const token of emulator.openTasks()) expect(JSON.stringify(waiting)).not.toContain(token.token)

  const answer = (step: string, content: { ok: number }) =>
    backend.answer(release, run, questions[step]!, { action: 'accept', content }, context)
  expect(await answer('Product', { ok: 1 })).toEqual({ kind: 'delivered' })
  const one = await until(release, run, ({ gates }) => gates.length === 1)
  expect(one.gates).toEqual([questions.Security])
  expect(await answer('Security', { ok: 2 })).toEqual({ kind: 'delivered' })
  const done = await until(release, run, ended)
  expect(done).toMatchObject({ state: 'succeeded', gates: [] })
  expect((done.output as unknown[]).slice(0, 2)).toEqual([{ ok: 2 }, { ok: 1 }])
})

it('the question of a branch that is aborted with its sibling closes, and its answer is too late', async () => {
  const abandoned = { id: emulator.stateMachineArn('abandoned') }
  const run = await started(abandoned, 'abandoned')
  const { gates } = await until(abandoned, run, (snapshot) => snapshot.gates.length === 2)
  const [ask, veto] = ['Ask', 'Veto'].map((step) => gates.find((gate) => gate.step === step)!)
  expect(await backend.answer(abandoned, run, veto!, { action: 'decline' }, context)).toEqual({
    kind: 'delivered',
  })
  const resting = await until(
    abandoned,
    run,
    ({ progress }) => progress?.message.startsWith('Rest since') === true,
  )
  expect(resting).toMatchObject({ state: 'running', gates: [] })
  const accept = { action: 'accept', content: {} } as const
  expect(await backend.answer(abandoned, run, ask!, accept, context)).toEqual({ kind: 'too_late' })
  await backend.cancel(abandoned, run, 'seen', context)
})

it('our own answer, whose first attempt was lost, is delivered within the retries of the SDK', async () => {
  const run = await started(caught, 'own-retry')
  const { gates } = await until(caught, run, (snapshot) => snapshot.gates.length === 1)
  emulator.faults.next('SendTaskSuccess', { kind: 'dropAfterExecuting' })
  const accept = { action: 'accept', content: { ok: true } } as const
  expect(await backend.answer(caught, run, gates[0]!, accept, context)).toEqual({ kind: 'delivered' })
  expect(emulator.calls().byOperation.SendTaskSuccess).toBeGreaterThanOrEqual(2)
  expect(await until(caught, run, ended)).toMatchObject({ state: 'succeeded', output: { ok: true } })
})

it('somebody who answers elsewhere makes ours too late', async () => {
  const run = await started(caught, 'elsewhere')
  const { gates } = await until(caught, run, (snapshot) => snapshot.gates.length === 1)
  const other = stepFunctions({ clients })
  const theirs = { action: 'accept', content: { by: 'them' } } as const
  expect((await other.answer(caught, run, gates[0]!, theirs, context)).kind).toBe('delivered')
  const ours = await backend.answer(caught, run, gates[0]!, { action: 'decline' }, context)
  expect(ours).toEqual({ kind: 'too_late' })
})

it('a decline can be caught by the state machine', async () => {
  const run = await started(caught, 'declined')
  const { gates } = await until(caught, run, (snapshot) => snapshot.gates.length === 1)
  await backend.answer(caught, run, gates[0]!, { action: 'decline' }, context)
  expect(await until(caught, run, ended)).toMatchObject({ state: 'succeeded', output: 'declined' })
})

it('a Lambda failure is told with its message, its state and its detail', async () => {
  const snapshot = await until(flaky, await started(flaky, 'fails'), ended)
  expect(snapshot.error).toMatchObject({ code: 'CardDeclined', message: 'No funds.', step: 'Charge' })
  expect(snapshot.error?.detail).toContain('errorMessage')
  expect(tries).toBeGreaterThan(0)
})

it('an execution that AWS does not show yet is absent, and found when it does', async () => {
  emulator.faults.next('StartExecution', { kind: 'hide', times: 2 })
  const run = await started(flaky, 'hidden')
  expect(await backend.get(flaky, run, look)).toEqual({ kind: 'absent' })
  expect(await backend.find(flaky, 'hidden', context)).toEqual({ kind: 'absent' })
  expect(await backend.find(flaky, 'hidden', context)).toEqual({ kind: 'found', run })
})

it('a start that is answered only after the caller left is found', async () => {
  emulator.faults.next('StartExecution', { kind: 'hang', afterExecuting: true })
  const leaving = new AbortController()
  const start = backend.start(flaky, 'left', {}, { ...context, signal: leaving.signal })
  while (!emulator.executions().some((one) => one.name === 'left')) await delay(2)
  leaving.abort()
  expect((await start).kind).toBe('unknown')
  expect((await backend.find(flaky, 'left', context)).kind).toBe('found')
})

it('a missing permission for the history keeps gates unreadable, and the end not', async () => {
  emulator.faults.always('GetExecutionHistory', { kind: 'denied' })
  const run = await started(caught, 'no-history')
  const result = await backend.get(caught, run, { ...look, gates: true })
  expect(result).toMatchObject({ kind: 'unreadable', error: { code: 'denied' } })
  if (result.kind === 'unreadable') expect(result.error.message).toContain('states:GetExecutionHistory')
  const plain = await backend.get(caught, run, { ...look, progress: true })
  expect(plain).toMatchObject({ kind: 'snapshot', snapshot: { state: 'running' } })
  expect(warnings.at(-1)).toContain('states:GetExecutionHistory')
  await backend.cancel(caught, run, 'enough', context)
  const over = await until(caught, run, ended)
  expect(over).toMatchObject({
    state: 'cancelled',
    error: { message: 'Stopped through this server: enough' },
  })
})
