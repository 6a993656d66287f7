import { describe, expect, it } from 'vitest'
import { googleWorkflows } from './backend.js'
import type { EngineFailure } from './engine-failure.js'
import { ARGUMENT_LIMIT_BYTES } from './start.js'
import { context, EXECUTION, failure, scriptedClients, WORKFLOW } from './testing/scripted-clients.js'
import type { GoogleWorkflow } from './workflow.js'

const bound = { id: WORKFLOW }
const created = { name: 'projects/1234567/locations/europe-west1/workflows/deploy/executions/e-1' }
const run = { id: EXECUTION, attempt: 0 }

function starting(script: Parameters<typeof scriptedClients>[0], workflow: GoogleWorkflow = bound) {
  const clients = scriptedClients(script)
  const warnings: string[] = []
  const backend = googleWorkflows({ clients, warn: (message) => warnings.push(message) })
  const start = (input = { b: 1, a: 2 }) => backend.start(workflow, 'rb-1', input as never, context)
  return { clients, backend, warnings, start }
}

describe('start', () => {
  it('sends the argument as JSON, the run key as a label beside the configured ones, and the log level', async () => {
    const { clients, start } = starting(
      { create: created },
      { id: WORKFLOW, labels: { team: 'ops' }, callLogLevel: 'errors' },
    )
    expect(await start()).toEqual({ kind: 'started', run })
    expect(clients.sent).toEqual([
      [
        'create',
        {
          parent: WORKFLOW,
          execution: {
            argument: '{"a":2,"b":1}',
            labels: { team: 'ops', runbridge: 'rb-1' },
            callLogLevel: 'LOG_ERRORS_ONLY',
          },
        },
      ],
    ])
  })

  it('goes over REST where a history level is asked for, which the client would drop', async () => {
    const { clients, start } = starting(
      { rest: { executions: created } },
      { id: WORKFLOW, historyLevel: 'detailed' },
    )
    expect(await start()).toEqual({ kind: 'started', run })
    expect(clients.sent).toEqual([
      [
        'executions',
        {
          api: 'executions',
          method: 'POST',
          path: `${WORKFLOW}/executions`,
          body: {
            argument: '{"a":2,"b":1}',
            labels: { runbridge: 'rb-1' },
            executionHistoryLevel: 'EXECUTION_HISTORY_DETAILED',
          },
        },
      ],
    ])
  })

  it('is refused before the call when the argument is too large, by a byte', async () => {
    const room = ARGUMENT_LIMIT_BYTES - JSON.stringify({ text: '' }).length
    const fits = 'é'.repeat(Math.floor(room / 2)) + 'x'.repeat(room % 2)
    const { clients, start } = starting({ create: created })
    expect((await start({ text: fits } as never)).kind).toBe('started')
    const refused = await start({ text: `${fits}x` } as never)
    expect(refused).toMatchObject({ kind: 'refused', error: { code: 'too_large' } })
    expect(clients.sent).toHaveLength(1)
  })

  it('is refused for labels that Google does not take', async () => {
    for (const labels of [
      { Team: 'x' },
      { team: 'Ops' },
      { runbridge: 'x' },
      { '1': 'x' },
      { a: 'x'.repeat(64) },
    ]) {
      const { clients, start } = starting({ create: created }, { id: WORKFLOW, labels: labels as never })
      expect(await start()).toMatchObject({ kind: 'refused', error: { code: 'misconfigured' } })
      expect(clients.sent).toEqual([])
    }
  })

  const REFUSED: EngineFailure['status'][] = [
    'INVALID_ARGUMENT',
    'NOT_FOUND',
    'ALREADY_EXISTS',
    'PERMISSION_DENIED',
    'RESOURCE_EXHAUSTED',
    'FAILED_PRECONDITION',
    'OUT_OF_RANGE',
    'UNIMPLEMENTED',
    'UNAUTHENTICATED',
    'NOT_SENT',
  ]
  const UNKNOWN: EngineFailure['status'][] = [
    'CANCELLED',
    'UNKNOWN',
    'DEADLINE_EXCEEDED',
    'ABORTED',
    'INTERNAL',
    'UNAVAILABLE',
    'DATA_LOSS',
    'NO_ANSWER',
  ]
  for (const [statuses, kind] of [
    [REFUSED, 'refused'],
    [UNKNOWN, 'unknown'],
  ] as const) {
    for (const status of statuses) {
      it(`is ${kind} on ${status}, and was sent once`, async () => {
        const { clients, start } = starting({ create: failure(status) })
        const result = await start()
        expect(result.kind).toBe(kind)
        if (kind === 'unknown') expect(result).toMatchObject({ error: { code: 'unknown_outcome' } })
        expect(clients.sent).toHaveLength(1)
      })
    }
  }

  it('is unknown when the answer names no execution', async () => {
    expect((await starting({ create: {} }).start()).kind).toBe('unknown')
  })
})

describe('a pinned revision', () => {
  const pinned = { id: WORKFLOW, revision: '000002-b' }

  it('starts while it is deployed', async () => {
    const { start } = starting({ rest: { resource: { revisionId: '000002-b' } }, create: created }, pinned)
    expect((await start()).kind).toBe('started')
  })

  it('refuses to start while another one is, and when that can not be told', async () => {
    for (const [resource, code] of [
      [{ revisionId: '000003-c' }, 'conflict'],
      [{}, 'conflict'],
      [failure('UNAVAILABLE'), 'unavailable'],
    ] as const) {
      const { clients, start } = starting({ rest: { resource }, create: created }, pinned)
      expect(await start()).toMatchObject({ kind: 'refused', error: { code } })
      expect(clients.sent.map(([call]) => call)).toEqual(['resource'])
    }
  })

  it('that was replaced while the execution started is told to the operator', async () => {
    const script = {
      rest: { resource: { revisionId: '000002-b' } },
      create: { ...created, workflowRevisionId: '000003-c' },
    }
    const { start, warnings } = starting(script, pinned)
    expect((await start()).kind).toBe('started')
    expect(warnings).toEqual([expect.stringContaining('runs revision 000003-c')])
  })
})

describe('find', () => {
  const labelled = (id: string, key = 'rb-1') => ({
    name: `projects/1234567/locations/europe-west1/workflows/deploy/executions/${id}`,
    labels: { runbridge: key },
  })
  const find = (list: Parameters<typeof scriptedClients>[0]['list']) => {
    const { backend, clients } = starting({ list: list! })
    return { clients, found: backend.find(bound, 'rb-1', context) }
  }

  it('asks by label and gives the reference that the start gives', async () => {
    const { clients, found } = find([labelled('e-1')])
    expect(await found).toEqual({ kind: 'found', run })
    expect(clients.sent).toEqual([['list', { parent: WORKFLOW, filter: 'labels.runbridge="rb-1"' }]])
  })

  it('reads all since the start where the filter is refused', async () => {
    const list = (({ filter }: { filter: string }) =>
      filter === '' ? [labelled('e-2', 'rb-2'), labelled('e-1')] : failure('INVALID_ARGUMENT')) as never
    const { clients, found } = find(list)
    expect(await found).toEqual({ kind: 'found', run })
    expect(clients.sent).toHaveLength(2)
  })

  it('calls two matches ambiguous', async () => {
    expect(await find([labelled('e-1'), labelled('e-2')]).found).toMatchObject({
      kind: 'ambiguous',
      runs: [run, { id: `${WORKFLOW}/executions/e-2`, attempt: 0 }],
    })
  })

  it('does not rest on the filter: what carries another key is not ours', async () => {
    expect(await find([labelled('e-1', 'rb-2'), { name: 'x' }]).found).toEqual({ kind: 'absent' })
  })

  it('is unreadable, not absent, when Google does not list', async () => {
    for (const status of ['NOT_FOUND', 'PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'NO_ANSWER'] as const) {
      expect((await find(failure(status)).found).kind).toBe('unreadable')
    }
  })
})
