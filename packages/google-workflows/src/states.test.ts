import type { GetResult } from '@runbridge/core'
import { describe, expect, it } from 'vitest'
import { googleWorkflows } from './backend.js'
import type { Execution, NativeState } from './executions-api.js'
import { STATE_TABLE, STATES } from './states.js'
import { EXECUTION, failure, look, scriptedClients, WORKFLOW } from './testing/scripted-clients.js'

const LINK = {
  title: 'Execution in the Google Cloud console',
  url: 'https://console.cloud.google.com/workflows/workflow/europe-west1/deploy/execution/e-1/summary?project=shop',
}
const times = { startTime: { seconds: 1000, nanos: 5_000_000 }, endTime: { seconds: '1002' } }

async function seen(execution: Execution): Promise<{ result: GetResult; warnings: string[] }> {
  const warnings: string[] = []
  const clients = scriptedClients({ get: { name: EXECUTION, ...execution } })
  const backend = googleWorkflows({ clients, warn: (message) => warnings.push(message) })
  const result = await backend.get({ id: WORKFLOW }, { id: EXECUTION, attempt: 0 }, look)
  return { result, warnings }
}

const at = (...steps: [string, string][]) => ({
  status: { currentSteps: steps.map(([routine, step]) => ({ routine, step })) },
})

/** One cell for each state of the protos: what Google says, what a run is then. */
const CELLS: Record<NativeState, [Execution, GetResult, warned: boolean]> = {
  STATE_UNSPECIFIED: [
    { state: 'STATE_UNSPECIFIED' },
    snapshot({
      state: 'running',
      nativeState: 'STATE_UNSPECIFIED',
      progress: { message: 'state STATE_UNSPECIFIED' },
    }),
    true,
  ],
  ACTIVE: [
    { state: 'ACTIVE', startTime: times.startTime, ...at(['main', 'build'], ['tests', 'unit']) },
    snapshot({
      state: 'running',
      nativeState: 'ACTIVE',
      progress: { message: 'main.build, tests.unit' },
      startedAt: 1_000_005,
    }),
    false,
  ],
  SUCCEEDED: [
    { state: 'SUCCEEDED', ...times, result: '{"version":3}' },
    snapshot({
      state: 'succeeded',
      nativeState: 'SUCCEEDED',
      output: { version: 3 },
      startedAt: 1_000_005,
      endedAt: 1_002_000,
    }),
    false,
  ],
  FAILED: [
    {
      state: 'FAILED',
      ...times,
      error: {
        payload: '{"message":"not found","code":404,"tags":["HttpError"]}',
        context: 'HTTP server responded with error code 404\nin step "fetch", routine "main", line: 3',
        stackTrace: { elements: [{ routine: 'main', step: 'fetch' }] },
      },
    },
    snapshot({
      state: 'failed',
      nativeState: 'FAILED',
      error: {
        code: 'HttpError',
        message: 'not found',
        step: 'main.fetch',
        detail:
          '{\n  "message": "not found",\n  "code": 404,\n  "tags": [\n    "HttpError"\n  ]\n}\n\nHTTP server responded with error code 404\nin step "fetch", routine "main", line: 3',
      },
      startedAt: 1_000_005,
      endedAt: 1_002_000,
    }),
    false,
  ],
  CANCELLED: [
    { state: 'CANCELLED', ...times },
    snapshot({ state: 'cancelled', nativeState: 'CANCELLED', startedAt: 1_000_005, endedAt: 1_002_000 }),
    false,
  ],
  UNAVAILABLE: [
    { state: 'UNAVAILABLE', stateError: { type: 'KMS_ERROR', details: 'The key was revoked.' } },
    {
      kind: 'unreadable',
      error: expect.objectContaining({
        code: 'unavailable',
        message: `Google can not read the data of ${EXECUTION} (KMS_ERROR: "The key was revoked.").`,
      }),
    },
    false,
  ],
  QUEUED: [
    { state: 'QUEUED', startTime: times.startTime },
    snapshot({
      state: 'queued',
      nativeState: 'QUEUED',
      progress: { message: 'in the backlog: the concurrency quota of europe-west1 is used up' },
      startedAt: 1_000_005,
    }),
    false,
  ],
}

function snapshot(fields: object): GetResult {
  return { kind: 'snapshot', snapshot: { gates: [], links: [LINK], ...fields } as never }
}

describe('states', () => {
  for (const [native, [execution, expected, warned]] of Object.entries(CELLS)) {
    it(`${native} is ${STATES[native as NativeState].state}`, async () => {
      const { result, warnings } = await seen(execution)
      expect(result).toEqual(expected)
      expect(warnings.length > 0).toBe(warned)
    })
  }

  it('a number that nobody knows is running, with the raw word and a warning', async () => {
    const { result, warnings } = await seen({ state: 99 as never })
    expect(result).toEqual(
      snapshot({ state: 'running', nativeState: '99', progress: { message: 'state 99' } }),
    )
    expect(warnings).toEqual([expect.stringContaining('not known here: 99')])
  })

  it('a name that nobody knows is running, whatever object has it', async () => {
    for (const state of ['PAUSED', 'toString', '', undefined]) {
      const { result } = await seen({ state: state as never })
      expect(result).toMatchObject({ kind: 'snapshot', snapshot: { state: 'running' } })
    }
  })

  it('NOT_FOUND is absent only while the workflow can be read', async () => {
    const run = { id: EXECUTION, attempt: 0 }
    for (const [workflow, kind] of [
      [{ name: WORKFLOW }, 'absent'],
      [failure('NOT_FOUND'), 'unreadable'],
      [failure('PERMISSION_DENIED'), 'unreadable'],
      [failure('UNAVAILABLE'), 'unreadable'],
    ] as const) {
      const clients = scriptedClients({ get: failure('NOT_FOUND'), rest: { resource: workflow } })
      const result = await googleWorkflows({ clients }).get({ id: WORKFLOW }, run, look)
      expect(result.kind).toBe(kind)
    }
  })

  it('prints every state in the table of the documentation', () => {
    for (const native of Object.keys(STATES)) {
      expect(STATE_TABLE.filter((row) => row.native === native)).toHaveLength(1)
    }
  })
})

describe('results', () => {
  it('that are no objects are parsed as they are', async () => {
    for (const [result, output] of [
      ['"text"', 'text'],
      ['17', 17],
      ['null', null],
      ['[1,2]', [1, 2]],
      ['no JSON', 'no JSON'],
    ] as const) {
      expect((await seen({ state: 'SUCCEEDED', result })).result).toMatchObject({ snapshot: { output } })
    }
  })

  it('that are not there say so', async () => {
    const { result } = await seen({ state: 'SUCCEEDED', result: '' })
    expect(result).toMatchObject({ snapshot: { outputOmitted: expect.stringContaining('no result') } })
    expect(result).not.toHaveProperty('snapshot.output')
  })

  it('never come with an error of their own, and a cancel says why where Google does', async () => {
    const stopped = await seen({ state: 'CANCELLED', error: { payload: '"maintenance"' } })
    expect(stopped.result).toMatchObject({
      snapshot: { error: { code: 'CANCELLED', message: 'maintenance' } },
    })
  })
})
