import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stepFunctions } from './backend.js'
import { followHistory } from './follow-history.js'
import { openGates } from './gates.js'
import type { Event } from './history.js'
import { NO_MARKS, parseMarks, type RunMarks } from './marks.js'
import {
  EXECUTION,
  history,
  historyPages,
  look,
  MACHINE,
  scriptedClients,
} from './testing/scripted-clients.js'
import type { GateConfig, StepFunctionsWorkflow } from './workflow.js'

const TOKEN = 'AQCEAAAAKgAAAAMAAAAAAAAAAQ'.padEnd(180, 'xY9-_z')
const WAITS = 'sendMessage.waitForTaskToken'
const run = { id: EXECUTION, attempt: 0 }

function scheduled(parameters: object, more: object = {}) {
  return { resource: WAITS, parameters: JSON.stringify(parameters), ...more }
}

/** A run that waits at `Approve`, with these parameters. */
function waiting(parameters: object, more: object = {}) {
  return history(
    [1, 0, 'ExecutionStarted'],
    [2, 0, 'TaskStateEntered', { name: 'Approve' }],
    [3, 2, 'TaskScheduled', scheduled(parameters, more)],
    [4, 3, 'TaskStarted'],
    [5, 4, 'TaskSubmitted'],
  )
}

async function seen(events: { id: number }[], gates?: StepFunctionsWorkflow['gates'], marks?: object) {
  const warnings: string[] = []
  const clients = scriptedClients({
    DescribeExecution: { status: 'RUNNING', executionArn: EXECUTION },
    GetExecutionHistory: historyPages(() => events),
  })
  const backend = stepFunctions({ clients, warn: (message) => warnings.push(message) })
  const result = await backend.get({ id: MACHINE, gates }, run, {
    ...look,
    gates: true,
    ...(marks && { marks: marks as RunMarks }),
  })
  if (result.kind !== 'snapshot') throw new Error(result.kind)
  return { snapshot: result.snapshot, marks: result.marks, warnings, clients, text: JSON.stringify(result) }
}

const gated = (gate: GateConfig) => ({ Approve: gate })

describe('a gate', () => {
  it('has its id from the history event and asks plainly where nothing is configured', async () => {
    const { snapshot, text } = await seen(waiting({ MessageBody: { TaskToken: TOKEN } }))
    expect(snapshot.gates).toEqual([
      {
        id: 'event-3',
        step: 'Approve',
        prompt: 'The workflow waits for an answer at "Approve".',
        schema: { type: 'object', properties: {} },
      },
    ])
    expect(text).not.toContain(TOKEN)
  })
  it('asks what the configuration says', async () => {
    const schema = { type: 'object', properties: { reason: { type: 'string' } } }
    const { snapshot } = await seen(waiting({}), gated({ prompt: 'Deploy?', schema }))
    expect(snapshot.gates[0]).toMatchObject({ prompt: 'Deploy?', schema })
  })
  it('asks what the parameters say, in objects and in JSON text', async () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } } }
    const body = { TaskToken: TOKEN, question: 'Deploy\n17?', schema: JSON.stringify(schema) }
    for (const MessageBody of [body, JSON.stringify(body)]) {
      const config = { promptField: 'MessageBody.question', schemaField: 'MessageBody.schema' }
      const { snapshot, text, clients } = await seen(waiting({ MessageBody }), gated(config))
      expect(snapshot.gates[0]).toMatchObject({ prompt: 'Deploy 17?', schema })
      expect(text).not.toContain(TOKEN)
      const reads = clients.sent.filter(({ command }) => command === 'GetExecutionHistory')
      // Only the second has data, and only as far back as the question.
      expect(reads.map(({ input }) => [input.includeExecutionData, input.maxResults])).toEqual([
        [false, 1000],
        [true, 3],
      ])
    }
  })
  it('reads no data where no question comes from it', async () => {
    const { clients } = await seen(waiting({}), gated({ prompt: 'Deploy?' }))
    expect(clients.sent[1]?.input.includeExecutionData).toBe(false)
  })
  it.each([
    ['the token itself', { promptField: 'MessageBody.TaskToken' }],
    ['a link with the token', { promptField: 'MessageBody.link' }],
    ['a schema with the token', { schemaField: 'MessageBody.leaky' }],
    ['a field that is not there', { promptField: 'MessageBody.nowhere' }],
    ['a schema that no form can ask', { schemaField: 'MessageBody.nested' }],
  ])('falls back to the plain question, and warns: %s', async (_, config) => {
    const MessageBody = {
      TaskToken: TOKEN,
      link: `https://approve.example/?t=${TOKEN}`,
      leaky: { type: 'object', properties: { ok: { type: 'string', default: TOKEN } } },
      nested: { type: 'object', properties: { list: { type: 'array' } } },
    }
    const { snapshot, text, warnings } = await seen(waiting({ MessageBody }), gated(config))
    expect(snapshot.gates[0]).toMatchObject({
      prompt: 'The workflow waits for an answer at "Approve".',
      schema: { type: 'object', properties: {} },
    })
    expect(text).not.toContain(TOKEN)
    expect(warnings).toHaveLength(1)
    expect(warnings.join()).not.toContain(TOKEN)
  })
  it('has the deadline of its timeout, and none where AWS has none', async () => {
    const { snapshot } = await seen(waiting({}, { timeoutInSeconds: 60 }))
    expect(snapshot.gates[0]?.deadline).toBe(Date.UTC(2026, 0, 2, 3, 4, 8) + 60_000)
    const { snapshot: endless } = await seen(waiting({}, { timeoutInSeconds: 99_999_999 }))
    expect(endless.gates[0]).not.toHaveProperty('deadline')
  })
  it('is left to others where the configuration says so', async () => {
    const { snapshot } = await seen(waiting({}), { Approve: false })
    expect(snapshot).toMatchObject({ state: 'running', gates: [] })
  })
  it('is found behind a Lambda function that is called by its ARN', async () => {
    const resource = 'arn:aws:lambda:us-east-1:123456789012:function:ask.waitForTaskToken'
    const events = history(
      [1, 0, 'ExecutionStarted'],
      [2, 0, 'TaskStateEntered', { name: 'Approve' }],
      [
        3,
        2,
        'LambdaFunctionScheduled',
        { resource, input: JSON.stringify({ q: 'Go?' }), timeoutInSeconds: 5 },
      ],
      [4, 3, 'LambdaFunctionStarted'],
    )
    const { snapshot } = await seen(events, gated({ promptField: 'q' }))
    expect(snapshot.gates[0]).toMatchObject({ id: 'event-3', prompt: 'Go?' })
    expect(snapshot.gates[0]?.deadline).toBeDefined()
  })
  it.each(['sendMessage', 'invoke', 'startExecution.sync', 'x.waitForTaskToken.not'])(
    'is no other task: %s',
    async (resource) => {
      const { snapshot } = await seen(waiting({}, { resource }))
      expect(snapshot.gates).toEqual([])
    },
  )
  it('is closed by what ends its task, and asked anew under another id when it is retried', async () => {
    const open = waiting({})
    for (const type of [
      'TaskSucceeded',
      'TaskFailed',
      'TaskTimedOut',
      'TaskSubmitFailed',
      'TaskStateAborted',
      'ParallelStateFailed',
    ]) {
      const closed = [...open, ...history([6, 5, type])]
      expect((await seen(closed)).snapshot.gates, type).toEqual([])
    }
    const retried = [...open, ...history([6, 5, 'TaskTimedOut'], [7, 6, 'TaskScheduled', scheduled({})])]
    expect((await seen(retried)).snapshot.gates).toMatchObject([{ id: 'event-7', step: 'Approve' }])
  })
  it('is closed when the execution ends, and found again in a redrive with its state', async () => {
    const aborted = [...waiting({}), ...history([6, 0, 'ExecutionAborted'])]
    expect((await seen(aborted)).snapshot.gates).toEqual([])
    const redriven = [
      ...aborted,
      ...history([7, 0, 'ExecutionRedriven', { redriveCount: 1 }], [8, 5, 'TaskScheduled', scheduled({})]),
    ]
    expect((await seen(redriven)).snapshot.gates).toMatchObject([{ id: 'event-8', step: 'Approve' }])
  })
})

describe('marks', () => {
  it('let the next look read only what is new, and know the open gates', async () => {
    const events = [...waiting({}), ...history(...noise(6, 2500))]
    const first = await seen(events)
    expect(first.clients.sent.filter((call) => call.command === 'GetExecutionHistory')).toHaveLength(3)
    const later = [...events, ...history([2506, 2505, 'PassStateEntered', { name: 'More' }])]
    const second = await seen(later, undefined, first.marks)
    expect(second.clients.sent.filter((call) => call.command === 'GetExecutionHistory')).toHaveLength(1)
    expect(second.snapshot.gates).toEqual(first.snapshot.gates)
    const closed = [...later, ...history([2507, 5, 'TaskSucceeded', { output: '{}' }])]
    const third = await seen(closed, undefined, second.marks)
    expect(third.snapshot.gates).toEqual([])
    expect(third.clients.sent.filter((call) => call.command === 'GetExecutionHistory')).toHaveLength(1)
  })
  it('are kept where a page reaches back into what was followed already', async () => {
    const events = waiting({})
    const first = await seen(events)
    // The page begins after the state was entered, so that only the marks know its name.
    const second = await seen(events.slice(2), undefined, first.marks)
    expect(second.snapshot.gates).toEqual(first.snapshot.gates)
    expect(second.marks).toEqual({ ...first.marks, looks: 1 })
  })
  it('hold no token, and the question is not read again', async () => {
    const config = gated({ promptField: 'MessageBody.q' })
    const first = await seen(waiting({ MessageBody: { TaskToken: TOKEN, q: 'Go?' } }), config)
    expect(JSON.stringify(first.marks)).not.toContain(TOKEN)
    const blank = waiting({})
    const second = await seen(blank, config, first.marks)
    expect(second.snapshot.gates[0]?.prompt).toBe('Go?')
  })
  it('that are not ours are ignored', async () => {
    for (const marks of [{}, { lastEvent: 'x', tasks: [] }, { lastEvent: 9, tasks: [{ tail: null }] }]) {
      expect(parseMarks(marks as never)).toBeUndefined()
      expect((await seen(waiting({}), undefined, marks)).snapshot.gates).toHaveLength(1)
    }
  })
})

/** Passes in a branch beside the gate. */
function noise(from: number, count: number): [number, number, string, object][] {
  return Array.from({ length: count }, (_, index) => {
    const id = from + index
    return [
      id,
      index === 0 ? 1 : id - 1,
      id % 2 === 0 ? 'PassStateEntered' : 'PassStateExited',
      { name: 'Loop' },
    ]
  })
}

describe('in noisy parallel branches', () => {
  /** Each number lets one of the branches take its next step; a model keeps which gates are open. */
  function play(choices: readonly number[]) {
    const events: Event[] = []
    const add = (type: string, previousEventId: number, details: object = {}) => {
      events.push({
        id: events.length + 1,
        previousEventId,
        type,
        timestamp: new Date(0),
        ...details,
      } as Event)
      return events.length
    }
    add('ExecutionStarted', 0)
    const fork = add('ParallelStateStarted', add('ParallelStateEntered', 0, entered('All')))
    const branches = Array.from({ length: 5 }, () => ({ last: fork, at: 'between', gate: 0, name: '' }))
    const history: { open: Map<number, string>; length: number }[] = []
    const open = new Map<number, string>()
    for (const choice of choices) {
      const branch = branches[choice % 5]!
      const roll = Math.floor(choice / 5)
      const step = (type: string, details: object = {}) => {
        branch.last = add(type, branch.last, details)
      }
      switch (branch.at) {
        case 'between':
          branch.name = `S${roll % 7}`
          if (roll % 3 === 0) {
            step('PassStateEntered', entered(branch.name))
            step('PassStateExited', { stateExitedEventDetails: { name: branch.name } })
            break
          }
          step('TaskStateEntered', entered(branch.name))
          branch.at = 'entered'
          break
        case 'entered': {
          const waits = roll % 2 === 0
          step('TaskScheduled', { taskScheduledEventDetails: { resource: waits ? WAITS : 'invoke' } })
          if (waits) open.set(branch.last, branch.name)
          branch.gate = branch.last
          branch.at = 'scheduled'
          break
        }
        case 'scheduled':
          if (roll % 3 === 0) step('TaskStarted')
          else if (roll % 3 === 1) step('TaskSubmitted')
          else {
            open.delete(branch.gate)
            const ended = ['TaskSucceeded', 'TaskFailed', 'TaskTimedOut'][roll % 4] ?? 'TaskStateAborted'
            step(ended)
            branch.at =
              ended === 'TaskSucceeded' ? 'done' : ended === 'TaskStateAborted' ? 'between' : 'entered'
          }
          break
        case 'done':
          step('TaskStateExited', { stateExitedEventDetails: { name: branch.name } })
          branch.at = 'between'
          break
      }
      history.push({ open: new Map(open), length: events.length })
    }
    return { events, history }
  }
  const entered = (name: string) => ({ stateEnteredEventDetails: { name } })
  const workflow = { id: MACHINE }

  it('the open gates are found at every moment, however the history was cut into looks', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(10_000), { minLength: 1, maxLength: 120 }),
        fc.infiniteStream(fc.boolean()),
        (choices, looks) => {
          const { events, history } = play(choices)
          let marks: RunMarks | undefined
          for (const { open, length } of history) {
            if (!looks.next().value) continue
            const present = events.slice(0, length)
            const expected = [...open]
              .sort(([a], [b]) => a - b)
              .map(([event, step]) => [`event-${event}`, step])
            // As it comes back from a store.
            marks = parseMarks(JSON.parse(JSON.stringify(followHistory(marks ?? NO_MARKS, present))))
            expect(openGates(marks!, workflow).map((gate) => [gate.id, gate.step])).toEqual(expected)
            const whole = followHistory(NO_MARKS, present)
            expect(openGates(whole, workflow)).toEqual(openGates(marks!, workflow))
          }
        },
      ),
      { numRuns: 200 },
    )
  })
})
