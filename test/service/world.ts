import {
  type CreateRequest,
  createTaskService,
  type ServiceOptions,
  type TaskStore,
  type TaskTool,
} from '@runbridge/core'
import {
  type FakeBackend,
  type FakeBackendOptions,
  fakeBackend,
  type ManualClock,
  manualClock,
} from '@runbridge/core/testing'
import { memory } from '@runbridge/stores/memory'

export const VISIBILITY_MS = 5_000
export const START_TIMEOUT_MS = 20_000
export const CLOCK_ALLOWANCE_MS = 2_000

/** Ids that tests can name: `tsk_1`, `rb-1`, … */
function countedIds() {
  let tasks = 0
  let runs = 0
  return { taskId: () => `tsk_${++tasks}`, runKey: () => `rb-${++runs}` }
}

/** One engine, one store, one clock, and as many services (replicas) on them as a test wants. */
export function createWorld(
  options: {
    backend?: Partial<FakeBackendOptions>
    tool?: Partial<TaskTool>
    /** Tools beside the one, of the same workflow. */
    others?: readonly (Partial<TaskTool> & { readonly name: string })[]
    autoAdvance?: boolean
    store?: TaskStore
  } = {},
) {
  const clock: ManualClock = manualClock({ autoAdvance: options.autoAdvance ?? true })
  const backend: FakeBackend = fakeBackend({ clock, visibilityMs: VISIBILITY_MS, ...options.backend })
  const tool: TaskTool = {
    name: 'deploy',
    backend,
    workflow: { id: 'arn:deploy' },
    capabilities: backend.capabilities,
    humanInput: 'elicitation',
    progress: true,
    retainMs: 3_600_000,
    ...options.tool,
  }
  const store: TaskStore = options.store ?? memory()
  const tools = [tool, ...(options.others ?? []).map((other): TaskTool => ({ ...tool, ...other }))]
  const ids = countedIds()

  const replica = (overrides: Partial<ServiceOptions> = {}) =>
    createTaskService({
      store,
      tools,
      clock,
      ids,
      validate: (schema, value) => {
        const required = (schema.required ?? []) as string[]
        return required.filter((name) => !(name in (value as object))).map((name) => `/${name} is required`)
      },
      startTimeoutMs: START_TIMEOUT_MS,
      clockAllowanceMs: CLOCK_ALLOWANCE_MS,
      ...overrides,
    })

  const request = (overrides: Partial<CreateRequest> = {}): CreateRequest => ({
    owner: 'alice',
    tool: 'deploy',
    form: 'ext-tasks',
    input: { version: '1.2.3' },
    ...overrides,
  })

  return { clock, backend, tool, store, replica, request, service: replica() }
}

/** Whatever the outcome is, as the task it must be. */
export async function created(outcome: ReturnType<ReturnType<typeof createWorld>['service']['create']>) {
  const result = await outcome
  if (result.kind !== 'task') throw new Error(`refused: ${result.error.message}`)
  return result.task
}
