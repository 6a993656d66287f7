import { readdirSync, readFileSync } from 'node:fs'
import {
  isCreateTaskResultV2,
  isDetailedTaskV2,
  isTaskStatusNotificationV2,
} from '@modelcontextprotocol/ext-tasks/core/v2'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ERROR_CODES, RunbridgeError } from '../../errors.js'
import type { Json } from '../../json.js'
import { isTerminal, RUN_STATES, type RunState } from '../../run.js'
import type { TaskRecord } from '../../task.js'
import { NOON, taskOf, taskRecord } from '../../testing/task-record.js'
import {
  createTaskResult,
  detailedTask,
  getTaskResult,
  JSON_RPC_CODES,
  jsonRpcError,
  parseInputResponses,
  parseListenParams,
  parseTaskParams,
  wireStatus,
} from './index.js'

/** A task in each state, with an open question where it waits. */
function inState(state: RunState, changes: Partial<TaskRecord> = {}) {
  const ended = isTerminal(state)
  return taskOf(
    taskRecord({
      state,
      ...(ended && { endedAt: NOON + 60_000 }),
      ...(state === 'lost' && {
        failure: { code: 'unknown_outcome', message: 'The engine denies the run.' },
      }),
      ...(state === 'waiting' && {
        inputs: [{ key: 'g.1', gateId: 'g', state: 'open' as const, askedAt: NOON }],
      }),
      snapshot: {
        state: state === 'starting' ? 'running' : state,
        nativeState: 'X',
        links: [],
        gates:
          state === 'waiting'
            ? [{ id: 'g', step: 'Approve', prompt: 'Deploy?', schema: { type: 'object', properties: {} } }]
            : [],
        ...(state === 'succeeded' && { output: 'done' }),
        ...((state === 'failed' || state === 'timed_out') && {
          error: { code: 'E', message: 'm', step: 'Pay' },
        }),
      },
      ...changes,
    }),
  )
}

const ASKED = { canBeAsked: true }
const UNASKED = { canBeAsked: false }

describe('states', () => {
  it.each([
    ['starting', 'working', 'working'],
    ['queued', 'working', 'working'],
    ['running', 'working', 'working'],
    ['waiting', 'working', 'input_required'],
    ['succeeded', 'completed', 'completed'],
    ['failed', 'completed', 'completed'],
    ['timed_out', 'completed', 'completed'],
    ['cancelled', 'cancelled', 'cancelled'],
    ['lost', 'failed', 'failed'],
  ] as const)('%s is %s, and %s while this caller is asked', (state, plain, asking) => {
    expect([wireStatus(state, false), wireStatus(state, true)]).toEqual([plain, asking])
  })
})

describe('what leaves fits the published schemas', () => {
  const views = RUN_STATES.flatMap((state) => [ASKED, UNASKED].map((view) => [state, view] as const))

  it.each(views)('%s, %j', (state, view) => {
    const task = inState(state)
    expect(isCreateTaskResultV2(createTaskResult(task, view))).toBe(true)
    expect(isDetailedTaskV2(detailedTask(task, view))).toBe(true)
    const notification = { jsonrpc: '2.0', method: 'notifications/tasks', params: detailedTask(task, view) }
    expect(isTaskStatusNotificationV2(notification)).toBe(true)
  })
})

describe('codec', () => {
  it('a handle carries no result, error, input requests or request state', () => {
    for (const state of RUN_STATES) {
      const handle = createTaskResult(inState(state), ASKED)
      expect(handle.resultType).toBe('task')
      for (const member of ['result', 'error', 'inputRequests', 'requestState', 'task', '_meta']) {
        expect(handle).not.toHaveProperty(member)
      }
    }
  })

  it('the result nested in tasks/get carries resultType: complete', () => {
    expect(getTaskResult(inState('succeeded'), ASKED)).toMatchObject({
      resultType: 'complete',
      status: 'completed',
      result: { resultType: 'complete', content: [{ type: 'text', text: 'done' }, {}] },
    })
  })

  it('no related-task metadata on an extension result; no requestState on a task', () => {
    for (const state of RUN_STATES) {
      const text = JSON.stringify(getTaskResult(inState(state), ASKED))
      expect(text).not.toContain('related-task')
      expect(text).not.toContain('requestState')
    }
  })

  it('a failed run is completed with isError, never failed', () => {
    expect(getTaskResult(inState('failed'), ASKED)).toMatchObject({
      status: 'completed',
      result: { isError: true },
      statusMessage: 'The run failed at step "Pay" with "E".',
    })
  })

  it('a lost run is failed with a JSON-RPC error and no result', () => {
    const lost = getTaskResult(inState('lost'), ASKED)
    expect(lost).toMatchObject({ status: 'failed', error: { code: -32603 } })
    expect(lost).not.toHaveProperty('result')
  })

  it('ttlMs is null while the run goes on, then counts from the recorded end', () => {
    expect(getTaskResult(inState('running'), ASKED).ttlMs).toBeNull()
    expect(getTaskResult(inState('succeeded'), ASKED).ttlMs).toBe(60_000 + 3_600_000)
  })

  it('open questions are elicitations in form mode, under their keys', () => {
    expect(getTaskResult(inState('waiting'), ASKED)).toMatchObject({
      status: 'input_required',
      inputRequests: {
        'g.1': {
          method: 'elicitation/create',
          params: { mode: 'form', message: 'Deploy?', requestedSchema: { type: 'object' } },
        },
      },
    })
  })

  it('an elicitation only to a caller that declared it', () => {
    const task = getTaskResult(inState('waiting'), UNASKED)
    expect(task.status).toBe('working')
    expect(task).not.toHaveProperty('inputRequests')
    expect(task.statusMessage).toContain('Waits for a person')
  })

  it('a task notification is what tasks/get would have said at that moment', () => {
    for (const state of RUN_STATES) {
      const { resultType, ...said } = getTaskResult(inState(state), ASKED)
      expect(resultType).toBe('complete')
      expect(detailedTask(inState(state), ASKED)).toEqual(said)
    }
  })

  it('times are ISO 8601 and intervals whole ms', () => {
    const task = taskOf(taskRecord(), 1234.5)
    expect(createTaskResult(task, ASKED)).toMatchObject({
      createdAt: '2026-07-28T12:00:00.000Z',
      lastUpdatedAt: '2026-07-28T12:00:00.000Z',
      pollIntervalMs: 1235,
    })
  })
})

describe('errors', () => {
  it.each(ERROR_CODES.map((code) => [code]))('%s has a JSON-RPC code and keeps its name', (code) => {
    const error = jsonRpcError(new RunbridgeError(code, 'm', { cause: new Error('secret') }))
    expect(error).toEqual({ code: JSON_RPC_CODES[code], message: 'm', data: { reason: code } })
  })
})

function parse(request: { params?: { taskId?: unknown; inputResponses?: unknown }; method: string }) {
  const { taskId } = parseTaskParams(request.params)
  if (request.method !== 'tasks/update') return { taskId }
  return { taskId, ...parseInputResponses(request.params?.inputResponses) }
}

describe('fixtures', () => {
  const folder = (kind: string) => new URL(`./fixtures/${kind}/`, import.meta.url)
  const all = (kind: string) =>
    readdirSync(folder(kind)).map((name) => [name, new URL(name, folder(kind))] as const)
  const load = (url: URL) => JSON.parse(readFileSync(url, 'utf8'))

  it.each(all('accepted'))('accepts %s', (_, url) => {
    expect(parse(load(url))).toMatchObject({ taskId: 'tsk_1' })
  })

  it.each(all('rejected'))('rejects %s with invalid_input and a path', (_, url) => {
    expect(() => parse(load(url))).toThrow(
      expect.objectContaining({
        code: 'invalid_input',
        message: expect.stringMatching(/^(params|inputResponses)/),
      }),
    )
  })
})

describe('parsers', () => {
  it('give back every answer that fits and name every other key', () => {
    expect(
      parseInputResponses({
        a: { action: 'accept', content: { ok: true } },
        b: { action: 'accept', content: { nested: {} } },
        c: { action: 'decline', content: { ignored: 1 } },
        d: { ignored: true },
        e: null,
      }),
    ).toEqual({
      responses: { a: { action: 'accept', content: { ok: true } }, c: { action: 'decline' } },
      malformed: ['b', 'd', 'e'],
    })
  })

  it('read the tasks of a subscription, each once and only what can be an id', () => {
    const taskIds = ['tsk_2', 'tsk_1', '', 'tsk_2', 'x'.repeat(1024)]
    expect(parseListenParams({ notifications: { taskIds, toolsListChanged: true } })).toEqual({
      taskIds: ['tsk_2', 'tsk_1'],
    })
    expect(parseListenParams({ notifications: { taskIds: [] } })).toEqual({ taskIds: [] })
    expect(parseListenParams({ notifications: { toolsListChanged: true } })).toEqual({ taskIds: undefined })
    for (const bad of ['tsk_1', [1], Array.from({ length: 1001 }, String)]) {
      expect(() => parseListenParams({ notifications: { taskIds: bad } })).toThrow(
        /^params.notifications.taskIds/,
      )
    }
  })

  it('answer any JSON with a value or a RunbridgeError', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const parser of [parseTaskParams, parseListenParams, parseInputResponses]) {
          try {
            parser(value as Json)
          } catch (thrown) {
            expect(thrown).toBeInstanceOf(RunbridgeError)
          }
        }
      }),
    )
  })

  it('every key is either an answer or malformed', () => {
    const entry = fc.oneof(
      fc.jsonValue(),
      fc.record({
        action: fc.constantFrom('accept', 'decline', 'cancel'),
        content: fc.dictionary(fc.string(), fc.string()),
      }),
    )
    // zod leaves `__proto__` out of records; no key of ours is that.
    const key = fc.string().filter((text) => text !== '__proto__')
    fc.assert(
      fc.property(fc.dictionary(key, entry, { maxKeys: 20 }), (value) => {
        const { responses, malformed } = parseInputResponses(value)
        expect([...Object.keys(responses), ...malformed].sort()).toEqual(Object.keys(value).sort())
      }),
    )
  })
})
