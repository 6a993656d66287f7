import type { Callback } from './callbacks.js'
import type { Execution } from './execution.js'
import type { StepEntry } from './history.js'
import type { SimulatedWorkflow } from './simulated.js'

/** Resources as Google's REST surface writes them; gRPC is made from the same. Absent members are left out. */
export type Resource = Readonly<Record<string, unknown>>

const time = (ms: number) => new Date(ms).toISOString()

export function executionResource(execution: Execution, view: 'BASIC' | 'FULL'): Resource {
  const { name, startTime, endTime, state, revisionId } = execution
  const basic = {
    name,
    startTime: time(startTime),
    createTime: time(startTime),
    ...(endTime !== undefined && {
      endTime: time(endTime),
      duration: `${(endTime - startTime) / 1000}s`,
    }),
    state,
    workflowRevisionId: revisionId,
  }
  if (view === 'BASIC') return basic
  const { argument, result, error, labels, callLogLevel, historyLevel, steps } = execution
  return {
    ...basic,
    ...(argument !== '' && { argument }),
    ...(state === 'SUCCEEDED' && result !== undefined && { result }),
    ...(error && {
      error: {
        payload: error.payload,
        context: error.context,
        stackTrace: { elements: error.frames.map(({ routine, step }) => ({ routine, step })) },
      },
    }),
    labels,
    callLogLevel,
    executionHistoryLevel: historyLevel,
    status: { currentSteps: steps.map(({ routine, step }) => ({ routine, step })) },
  }
}

export function callbackResource(execution: Execution, callback: Callback): Resource {
  return {
    name: `${execution.name}/callbacks/${callback.id}`,
    method: callback.method,
    waiters: String(callback.waiters),
    ...(callback.available.length > 0 && {
      availablePayloads: callback.available.map((request) => JSON.stringify(request)),
    }),
  }
}

export function stepEntryResource(execution: Execution, entry: StepEntry): Resource {
  return {
    name: `${execution.name}/stepEntries/${entry.entryId}`,
    entryId: String(entry.entryId),
    routine: entry.routine,
    step: entry.step,
    stepType: entry.stepType,
    state: entry.state,
    createTime: time(entry.createTime),
    updateTime: time(entry.updateTime),
    ...(entry.payload !== undefined && { exception: { payload: entry.payload } }),
    ...(entry.variables && { variableData: { variables: entry.variables } }),
    ...(entry.progress && {
      stepEntryMetadata: {
        progressType: entry.progress.type,
        progressNumber: String(entry.progress.number),
        expectedIteration: String(entry.progress.expected),
      },
    }),
  }
}

export function workflowResource(name: string, workflow: SimulatedWorkflow): Resource {
  return {
    name,
    state: 'ACTIVE',
    revisionId: workflow.revisionId ?? '000001-000',
    ...(workflow.description !== undefined && { description: workflow.description }),
    ...(workflow.labels && { labels: workflow.labels }),
    ...(workflow.historyLevel && { executionHistoryLevel: workflow.historyLevel }),
  }
}
