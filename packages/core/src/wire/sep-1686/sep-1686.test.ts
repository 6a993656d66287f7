import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ERROR_CODES, RunbridgeError } from '../../errors.js'
import { reduce } from '../../lifecycle.js'
import { isTerminal, RUN_STATES, type RunState, type Snapshot } from '../../run.js'
import type { TaskRecord } from '../../task.js'
import { NOON, taskOf, taskRecord } from '../../testing/task-record.js'
import {
  answer,
  createdNotification,
  deleteResult,
  elicitRequest,
  getTaskResult,
  JSON_RPC_CODES,
  jsonRpcError,
  parseListParams,
  parseTaskMetadata,
  parseTaskParams,
  RELATED_TASK_KEY,
  resultAnswer,
  WIRE_STATUSES,
  type WireStatus,
  wireStatus,
  wireTask,
} from './index.js'

const ASKED = { canBeAsked: true }
const RUN = { id: 'run-1', attempt: 0 }
const gate = { id: 'g', step: 'Approve', prompt: 'Deploy?', schema: { type: 'object', properties: {} } }
const { run: _, ...blank } = taskRecord({ form: 'sep-1686', taskId: 'mine-1', state: 'starting' })
const starting: TaskRecord = blank
const look = (state: Snapshot['state'], at: number, extra: Partial<Snapshot> = {}) => ({
  type: 'snapshot' as const,
  run: RUN,
  observedAt: at,
  snapshot: { state, nativeState: 'X', links: [], gates: state === 'waiting' ? [gate] : [], ...extra },
})

/** The task as it comes to this state, by the events of a life. */
function inState(state: RunState): TaskRecord {
  if (state === 'starting') return starting
  const started = reduce(starting, { type: 'started', run: RUN }, NOON)
  return reduce(started, look(state, NOON + 1), NOON + 1)
}
const shown = (record: TaskRecord) => wireTask(taskOf(record), ASKED).status

describe('status', () => {
  it.each([
    ['starting', 'submitted'],
    ['queued', 'submitted'],
    ['running', 'working'],
    ['waiting', 'input_required'],
    ['succeeded', 'completed'],
    ['failed', 'completed'],
    ['timed_out', 'completed'],
    ['cancelled', 'cancelled'],
    ['lost', 'failed'],
  ] as const)('%s is %s', (state, status) => {
    expect(shown(inState(state))).toBe(status)
  })

  it('SEP-1686 4.3.4: unknown is only a start that could not be settled; what else is lost is failed with a message', () => {
    const unsettled = reduce(starting, { type: 'start_unsettled', message: 'It may have started.' }, NOON)
    expect(wireTask(taskOf(unsettled), ASKED)).toMatchObject({
      status: 'unknown',
      error: expect.stringContaining('It may have started.'),
    })
    expect(wireTask(taskOf(inState('lost')), ASKED)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('do not repeat it'),
    })
  })

  it('SEP-1686 4.3.1: a task begins as submitted, also while the engine has it queued', () => {
    const started = reduce(starting, { type: 'started', run: RUN }, NOON)
    const queued = reduce(started, look('queued', NOON + 1), NOON + 1)
    expect([shown(starting), shown(started), shown(queued)]).toEqual(['submitted', 'submitted', 'submitted'])
  })

  it('never back to submitted', () => {
    const begun = inState('running')
    expect(shown(reduce(begun, look('queued', NOON + 2), NOON + 2))).toBe('working')
  })

  it('SEP-1686 4.3.2: a task moves only along the paths of the section, whatever the engine says in whatever order', () => {
    const active: readonly WireStatus[] = ['working', 'input_required']
    const terminal: readonly WireStatus[] = ['completed', 'failed', 'cancelled', 'unknown']
    const paths: Record<WireStatus, readonly WireStatus[]> = {
      submitted: [...active, ...terminal],
      working: ['input_required', ...terminal],
      input_required: ['working', ...terminal],
      completed: [],
      failed: [],
      cancelled: [],
      unknown: [],
    }
    const events = fc.array(fc.constantFrom('started', 'unsettled', 'refused', ...RUN_STATES), {
      maxLength: 20,
    })
    fc.assert(
      fc.property(events, fc.boolean(), (names, canBeAsked) => {
        let task = starting
        let status = wireStatus(task, false)
        expect(status).toBe('submitted')
        for (const [index, name] of names.entries()) {
          const at = NOON + index
          if (name === 'started') task = reduce(task, { type: 'started', run: RUN }, at)
          else if (name === 'unsettled') task = reduce(task, { type: 'start_unsettled', message: 'm' }, at)
          else if (name === 'refused')
            task = reduce(task, { type: 'start_refused', code: 'denied', message: 'm' }, at)
          else if (name !== 'starting') task = reduce(task, look(name, at), at)
          const next = wireTask(taskOf(task), { canBeAsked }).status
          if (next !== status) expect(paths[status]).toContain(next)
          status = next
        }
      }),
    )
    expect(Object.keys(paths).sort()).toEqual([...WIRE_STATUSES].sort())
  })

  it('SEP-1686 4.3.3: straight from submitted to completed where the end is seen first', () => {
    const started = reduce(starting, { type: 'started', run: RUN }, NOON)
    expect(shown(reduce(started, look('succeeded', NOON + 1), NOON + 1))).toBe('completed')
  })
})

describe('the task', () => {
  it('SEP-1686 4.5.2: keepAlive in every tasks/get, pollFrequency while it goes on', () => {
    for (const state of RUN_STATES) {
      const task = getTaskResult(taskOf(inState(state), 1234.4), ASKED)
      expect(task.keepAlive).toBe(3_600_000)
      expect(task.pollFrequency).toBe(isTerminal(state) ? undefined : 1234)
    }
  })

  it('list entries by their type', () => {
    for (const state of RUN_STATES) {
      const known = ['taskId', 'status', 'keepAlive', 'pollFrequency', 'error']
      for (const member of Object.keys(wireTask(taskOf(inState(state)), ASKED)))
        expect(known).toContain(member)
    }
  })

  it('SEP-1686 7.2.1: a failed task says in error what went wrong', () => {
    expect(wireTask(taskOf(inState('lost')), ASKED).error).toContain('may have started')
    expect(wireTask(taskOf(inState('failed')), ASKED)).not.toHaveProperty('error')
  })
})

describe('answers', () => {
  it('SEP-1686 7.2.2: a run that failed is completed, with isError in its result', () => {
    for (const state of ['failed', 'timed_out'] as const) {
      const task = taskOf(inState(state))
      expect(resultAnswer(task, ASKED)).toMatchObject({ kind: 'result', result: { isError: true } })
      expect(answer(task)).toEqual(resultAnswer(task, ASKED))
    }
  })

  it('the original call is answered with the final result, and -32603 when it is lost', () => {
    expect(answer(taskOf(inState('running')))).toBeUndefined()
    expect(
      answer(taskOf(reduce(inState('running'), look('succeeded', NOON + 9, { output: 'done' }), NOON))),
    ).toMatchObject({ kind: 'result', result: { content: [{ text: 'done' }, {}] } })
    expect(answer(taskOf(inState('lost')))).toMatchObject({ kind: 'error', error: { code: -32603 } })
  })

  it('tasks/result only when completed, in the words of 7.1', () => {
    for (const state of RUN_STATES) {
      const task = taskOf(inState(state))
      const { status } = wireTask(task, ASKED)
      if (status === 'completed') expect(resultAnswer(task, ASKED).kind).toBe('result')
      else {
        expect(resultAnswer(task, ASKED)).toMatchObject({
          error: {
            code: -32602,
            message: `Cannot retrieve result: Task status is '${status}', not 'completed'`,
          },
        })
      }
    }
  })

  it('carry the related task under the key of this form', () => {
    const related = { _meta: { [RELATED_TASK_KEY]: { taskId: 'mine-1' } } }
    expect(RELATED_TASK_KEY).toBe('modelcontextprotocol.io/related-task')
    const [question] = taskOf(inState('waiting')).questions
    expect(getTaskResult(taskOf(inState('running')), ASKED)).toMatchObject(related)
    expect(resultAnswer(taskOf(inState('succeeded')), ASKED)).toMatchObject({ result: related })
    expect(answer(taskOf(inState('cancelled')))).toMatchObject({ result: related })
    expect(createdNotification('mine-1').params).toEqual(related)
    expect(deleteResult('mine-1')).toEqual(related)
    expect(elicitRequest(question!, 'mine-1').params).toMatchObject(related)
  })
})

describe('errors', () => {
  it.each(ERROR_CODES.map((code) => [code]))('%s has a JSON-RPC code and keeps its name', (code) => {
    const error = jsonRpcError(new RunbridgeError(code, 'm', { cause: new Error('secret') }))
    const message = code === 'task_not_found' ? 'Failed to retrieve task: m' : 'm'
    expect(error).toEqual({ code: JSON_RPC_CODES[code], message, data: { reason: code } })
  })
})

type Request = { method: string; params?: { _meta?: unknown } }
function parseRequest({ method, params }: Request) {
  if (method === 'tasks/list') return parseListParams(params)
  return method === 'tools/call' ? parseTaskMetadata(params?._meta) : parseTaskParams(params)
}

describe('fixtures', () => {
  const folder = (kind: string) => new URL(`./fixtures/${kind}/`, import.meta.url)
  const all = (kind: string) =>
    readdirSync(folder(kind)).map((name) => [name, new URL(name, folder(kind))] as const)
  const load = (url: URL) => JSON.parse(readFileSync(url, 'utf8'))

  it.each(all('accepted'))('accepts %s', (name, url) => {
    const expected = name.startsWith('tasks-list')
      ? { cursor: 'abc' }
      : name.includes('without-metadata') || name.includes('other')
        ? undefined
        : { taskId: 'mine-1', ...(name === 'call-with-keep-alive.json' && { keepAlive: 60_000 }) }
    expect(parseRequest(load(url))).toEqual(expected)
  })

  it.each(all('rejected'))('rejects %s with invalid_input and a path', (_name, url) => {
    expect(() => parseRequest(load(url))).toThrow(
      expect.objectContaining({ code: 'invalid_input', message: expect.stringMatching(/^params/) }),
    )
  })
})

it('parsers answer any JSON with a value or a RunbridgeError', () => {
  const meta = fc.record({ 'modelcontextprotocol.io/task': fc.jsonValue() })
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), meta), (value) => {
      for (const parser of [parseTaskParams, parseListParams, parseTaskMetadata]) {
        try {
          parser(value)
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(RunbridgeError)
        }
      }
    }),
  )
})

it('what is read is what was sent', () => {
  const metadata = fc.record(
    { taskId: fc.string({ minLength: 1, maxLength: 512 }), keepAlive: fc.nat() },
    { requiredKeys: ['taskId'] },
  )
  fc.assert(
    fc.property(metadata, (sent) => {
      expect(parseTaskMetadata({ 'modelcontextprotocol.io/task': { ...sent, other: 1 } })).toEqual(sent)
    }),
  )
})
