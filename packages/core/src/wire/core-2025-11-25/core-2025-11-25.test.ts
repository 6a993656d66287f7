import { readdirSync, readFileSync } from 'node:fs'
import {
  CallToolResultSchema,
  CancelTaskResultSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
  GetTaskResultSchema,
  TaskStatusNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ERROR_CODES, RunbridgeError } from '../../errors.js'
import { isTerminal, RUN_STATES, type RunState } from '../../run.js'
import type { TaskRecord } from '../../task.js'
import { NOON, taskOf, taskRecord } from '../../testing/task-record.js'
import {
  CANCELLED_ERROR,
  createTaskResult,
  elicitRequest,
  JSON_RPC_CODES,
  jsonRpcError,
  outcome,
  parseListParams,
  parseTaskMetadata,
  parseTaskParams,
  RELATED_TASK_KEY,
  wireStatus,
  wireTask,
} from './index.js'

const ASKED = { canBeAsked: true }
const UNASKED = { canBeAsked: false }
const gate = { id: 'g', step: 'Approve', prompt: 'Deploy?', schema: { type: 'object', properties: {} } }

function inState(state: RunState, changes: Partial<TaskRecord> = {}) {
  const failed = state === 'failed' || state === 'timed_out'
  return taskOf(
    taskRecord({
      form: 'core-2025-11-25',
      state,
      ...(isTerminal(state) && { endedAt: NOON + 60_000 }),
      ...(state === 'lost' && { failure: { code: 'unknown_outcome', message: 'The engine denies it.' } }),
      ...(state === 'waiting' && { inputs: [{ key: 'g.1', gateId: 'g', state: 'open', askedAt: NOON }] }),
      snapshot: {
        state: state === 'starting' ? 'running' : state,
        nativeState: 'X',
        links: [],
        gates: state === 'waiting' ? [gate] : [],
        ...(state === 'succeeded' && { output: 'done' }),
        ...(failed && { error: { code: 'E', message: 'm', step: 'Pay' } }),
      },
      ...changes,
    }),
  )
}

describe('what leaves fits the published schemas', () => {
  it.each(RUN_STATES.flatMap((state) => [ASKED, UNASKED].map((view) => [state, view] as const)))(
    '%s, %j',
    (state, view) => {
      const task = inState(state)
      const shown = wireTask(task, view)
      const created = createTaskResult(task, view)
      expect(CreateTaskResultSchema.parse(created).task).toEqual(created.task)
      expect(GetTaskResultSchema.parse(shown)).toEqual(shown)
      expect(CancelTaskResultSchema.parse(shown)).toEqual(shown)
      const notification = { method: 'notifications/tasks/status', params: shown }
      expect(TaskStatusNotificationSchema.parse(notification)).toEqual(notification)
    },
  )

  it('an elicitation is a form with flat properties', () => {
    const [question] = inState('waiting').questions
    const request = elicitRequest(question!, 'tsk_1')
    expect(ElicitRequestSchema.parse(request)).toEqual(request)
  })
})

describe('the task', () => {
  it('createdAt, lastUpdatedAt and the actual ttl in every task response', () => {
    for (const state of RUN_STATES) {
      expect(wireTask(inState(state), ASKED)).toMatchObject({
        createdAt: '2026-07-28T12:00:00.000Z',
        lastUpdatedAt: '2026-07-28T12:00:00.000Z',
        ttl: isTerminal(state) ? 60_000 + 3_600_000 : null,
      })
    }
  })

  it('clients of 2025 that are told failed may never fetch the result: the status message names the failing step', () => {
    for (const state of ['failed', 'timed_out'] as const) {
      expect(wireTask(inState(state), ASKED)).toMatchObject({
        status: 'failed',
        statusMessage: expect.stringContaining('at step "Pay"'),
      })
    }
  })

  it('a caller that can not be asked sees working and who must answer', () => {
    expect(wireTask(inState('waiting'), ASKED).status).toBe('input_required')
    expect(wireTask(inState('waiting'), UNASKED)).toMatchObject({
      status: 'working',
      statusMessage: expect.stringContaining('Waits for a person'),
    })
  })

  it('begins in working, whatever becomes of the start', () => {
    for (const state of RUN_STATES) {
      expect(createTaskResult(inState(state), ASKED).task.status).toBe('working')
      if (!isTerminal(state)) expect(wireStatus(state, false)).toBe('working')
    }
  })

  it('says that it was cancelled and not that its run was, once it is sealed', () => {
    const sealed = { sealed: {}, cancel: { reason: 'r', requestedAt: NOON } }
    expect(wireTask(inState('cancelled', sealed), ASKED)).toMatchObject({ status: 'cancelled', ttl: null })
    expect(wireTask(inState('cancelled', sealed), ASKED).statusMessage).toContain('asked to stop')
    expect(wireTask(inState('cancelled', { sealed: {} }), ASKED).statusMessage).toContain('left alone')
  })
})

describe('tasks/result', () => {
  it('waits until the end', () => {
    for (const state of RUN_STATES) expect(outcome(inState(state)) !== undefined).toBe(isTerminal(state))
  })

  it('is what the call would have returned', () => {
    expect(outcome(inState('succeeded'))).toMatchObject({
      kind: 'result',
      result: { content: [{ type: 'text', text: 'done' }, {}] },
    })
    for (const state of ['failed', 'timed_out'] as const) {
      const ended = outcome(inState(state))
      expect(ended).toMatchObject({ kind: 'result', result: { isError: true } })
      if (ended?.kind === 'result') expect(CallToolResultSchema.parse(ended.result)).toEqual(ended.result)
    }
  })

  it('of a refused start is the refusal, as the call would have said it', () => {
    const refused = inState('failed', { failure: { code: 'denied', message: 'No permission.' } })
    const { snapshot: _, ...record } = refused.record
    expect(outcome(taskOf(record))).toMatchObject({
      result: { isError: true, content: [{ text: 'No permission.' }, {}] },
    })
  })

  it('of a cancelled task is an error of fixed code and text; of a lost one -32603', () => {
    const shown = inState('cancelled', { note: 'a note', cancel: { reason: 'r', requestedAt: NOON } })
    expect(outcome(shown)).toEqual({ kind: 'error', error: CANCELLED_ERROR })
    expect(outcome(inState('lost'))).toMatchObject({
      kind: 'error',
      error: { code: -32603, data: { reason: 'unknown_outcome' } },
    })
  })
})

describe('related-task metadata', () => {
  it('on the result and on elicitations', () => {
    const related = { [RELATED_TASK_KEY]: { taskId: 'tsk_1' } }
    expect(outcome(inState('succeeded'))).toMatchObject({ result: { _meta: related } })
    const [question] = inState('waiting').questions
    expect(elicitRequest(question!, 'tsk_1').params._meta).toEqual(related)
  })

  it('not on a task: create, get, list, cancel, status', () => {
    for (const state of RUN_STATES) {
      expect(JSON.stringify(wireTask(inState(state), ASKED))).not.toContain('related-task')
      expect(JSON.stringify(createTaskResult(inState(state), ASKED))).not.toContain('related-task')
    }
  })
})

it('the handle carries a line for the model that names task and tool', () => {
  const { _meta } = createTaskResult(inState('running'), ASKED)
  expect(_meta).toEqual({
    'io.modelcontextprotocol/model-immediate-response': expect.stringMatching(/tsk_1 of order .*Do not call/),
  })
})

describe('errors', () => {
  it.each(ERROR_CODES.map((code) => [code]))('%s has a JSON-RPC code and keeps its name', (code) => {
    const error = jsonRpcError(new RunbridgeError(code, 'm', { cause: new Error('secret') }))
    const message = code === 'task_not_found' ? 'Failed to retrieve task: m' : 'm'
    expect(error).toEqual({ code: JSON_RPC_CODES[code], message, data: { reason: code } })
  })
})

function parseRequest({ method, params }: { method: string; params?: Record<string, unknown> }) {
  if (method === 'tasks/list') return parseListParams(params)
  return method === 'tools/call' ? parseTaskMetadata(params?.task) : parseTaskParams(params)
}

describe('fixtures', () => {
  const folder = (kind: string) => new URL(`./fixtures/${kind}/`, import.meta.url)
  const all = (kind: string) =>
    readdirSync(folder(kind)).map((name) => [name, new URL(name, folder(kind))] as const)
  const load = (url: URL) => JSON.parse(readFileSync(url, 'utf8'))

  it.each(all('accepted'))('accepts %s', (name, url) => {
    const expected = name.startsWith('tasks-list')
      ? name.includes('cursor') && 'cursor'
      : name.startsWith('call')
        ? name === 'call-with-ttl.json' && 'ttl'
        : 'taskId'
    const parsed: object = parseRequest(load(url)) ?? {}
    expect(Object.keys(parsed)).toEqual(expected === false ? [] : [expected])
  })

  it.each(all('rejected'))('rejects %s with invalid_input and a path', (_, url) => {
    expect(() => parseRequest(load(url))).toThrow(
      expect.objectContaining({ code: 'invalid_input', message: expect.stringMatching(/^params/) }),
    )
  })
})

it('parsers answer any JSON with a value or a RunbridgeError', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
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
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, maxLength: 512 }),
      fc.double({ min: 0, noNaN: true }),
      (id, ttl) => {
        expect(parseTaskParams({ taskId: id, other: 1 })).toEqual({ taskId: id })
        if (Number.isFinite(ttl)) expect(parseTaskMetadata({ ttl, other: 1 })).toEqual({ ttl })
      },
    ),
  )
})
