import { invalid, notFound } from './errors.js'
import type { Operation } from './faults.js'
import { filtered, pageOf } from './filter.js'
import type { StepEntry } from './history.js'
import { isLocationName } from './names.js'
import {
  callbackResource,
  executionResource,
  type Resource,
  stepEntryResource,
  workflowResource,
} from './resources.js'
import {
  cancelExecution,
  type EmulatorState,
  executionOf,
  type NewExecution,
  startExecution,
  workflowOf,
} from './state.js'

/** A request with the names of the protos, whichever surface it came by. */
export type Request = Readonly<Record<string, unknown>>

interface Served {
  readonly permission: string
  run(state: EmulatorState, request: Request): Resource
}

export const SERVED: Readonly<Record<Operation, Served>> = {
  CreateExecution: {
    permission: 'workflows.executions.create',
    run: (state, { parent, execution }) =>
      executionResource(startExecution(state, parent, (execution ?? {}) as NewExecution), 'FULL'),
  },
  GetExecution: {
    permission: 'workflows.executions.get',
    run: (state, { name, view }) =>
      executionResource(executionOf(state, name), view === 'BASIC' ? 'BASIC' : 'FULL'),
  },
  ListExecutions: { permission: 'workflows.executions.list', run: listExecutions },
  CancelExecution: {
    permission: 'workflows.executions.cancel',
    run: (state, { name }) => executionResource(cancelExecution(executionOf(state, name)), 'FULL'),
  },
  ListCallbacks: {
    permission: 'workflows.callbacks.list',
    run(state, request) {
      const execution = executionOf(state, request.parent)
      const callbacks = [...execution.callbacks.values()]
      const { items, nextPageToken } = pageOf(callbacks, request, 100)
      return { callbacks: items.map((each) => callbackResource(execution, each)), nextPageToken }
    },
  },
  SendCallback: {
    permission: 'workflows.callbacks.send',
    run(state, { parent, callback: id, method, body, query }) {
      const callback = executionOf(state, parent).callbacks.get(String(id))
      if (!callback) throw notFound('Callback', String(id))
      if (callback.method !== method) throw invalid(`The callback takes ${callback.method} only.`)
      callback.send({ method: String(method), body, query: (query ?? {}) as Record<string, string> })
      return {}
    },
  },
  ListStepEntries: { permission: 'workflows.stepEntries.list', run: listStepEntries },
  GetWorkflow: {
    permission: 'workflows.workflows.get',
    run(state, request) {
      const { name, workflow } = workflowOf(state, request.name)
      return workflowResource(name, workflow)
    },
  },
  ListWorkflows: { permission: 'workflows.workflows.list', run: listWorkflows },
}

function listExecutions(state: EmulatorState, request: Request): Resource {
  const { name } = workflowOf(state, request.parent)
  const view = request.view === 'FULL' ? 'FULL' : 'BASIC'
  const shown = [...state.executions.values()]
    .filter((execution) => execution.name.startsWith(`${name}/`) && !hides(state, execution.name))
    .reverse()
  const matching = filtered(shown, request.filter, (execution, field) =>
    field.startsWith('labels.') ? execution.labels[field.slice('labels.'.length)] : execution.state,
  )
  const { items, nextPageToken } = pageOf(matching, request, 100)
  return { executions: items.map((each) => executionResource(each, view)), nextPageToken }
}

/** Counts a list that leaves the execution out. */
function hides({ hidden }: EmulatorState, name: string): boolean {
  const left = hidden.get(name)
  if (left === undefined) return false
  if (left > 1) hidden.set(name, left - 1)
  else hidden.delete(name)
  return true
}

function listStepEntries(state: EmulatorState, request: Request): Resource {
  const execution = executionOf(state, request.parent)
  const newestFirst = /^\s*entryId\s+desc\s*$/.test(String(request.orderBy ?? ''))
  const entries = newestFirst ? [...execution.history.entries].reverse() : execution.history.entries
  const matching = filtered(entries, request.filter, (entry: StepEntry, field) =>
    field === 'step' ? entry.step : field === 'routine' ? entry.routine : entry.state,
  )
  const { items, nextPageToken } = pageOf(matching, request, 1000)
  return {
    stepEntries: items.map((entry) => stepEntryResource(execution, entry)),
    nextPageToken,
    totalSize: matching.length,
  }
}

function listWorkflows(state: EmulatorState, request: Request): Resource {
  const parent = String(request.parent)
  if (!isLocationName(parent)) throw invalid(`"${parent}" is not a location.`)
  const known = [...state.workflows].filter(([name]) => name.startsWith(`${parent}/workflows/`))
  const matching = filtered(known, request.filter, ([, { labels }], field) =>
    field.startsWith('labels.') ? labels?.[field.slice('labels.'.length)] : undefined,
  )
  const { items, nextPageToken } = pageOf(matching, request, 500)
  return { workflows: items.map(([name, workflow]) => workflowResource(name, workflow)), nextPageToken }
}
