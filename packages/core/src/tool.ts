import type { Backend, Capabilities, Workflow } from './backend.js'
import type { TaskRecord } from './task.js'

/** Who may answer a gate. `elicitation`: only an elicitation answer; `model`: `task_answer` counts too. */
export type HumanInput = 'off' | 'elicitation' | 'model'

/** What the task service needs to know of a tool: the binding of a name to one workflow in one engine. */
export interface TaskTool<W extends Workflow = Workflow> {
  readonly name: string
  readonly backend: Backend<W>
  readonly workflow: W
  readonly capabilities: Capabilities
  readonly humanInput: HumanInput
  /** Whether progress is read from the engine. Default true. */
  readonly progress: boolean
  /**
   * Names of arguments. While a task of this tool is alive, the same owner calling again with the same values of
   * them gets that task.
   */
  readonly idempotencyKey?: readonly string[]
  /** A tool that starts nothing: it watches runs that were started elsewhere. */
  readonly attach?: {
    /** Whether its tasks may stop those runs. */
    readonly cancel: boolean
  }
  /** How long a task is kept after its recorded end, in ms. */
  readonly retainMs: number
}

/** Why a cancel does not stop the run of a task: it was started elsewhere and is only watched, or nothing stops it. */
export type Unstoppable = 'watched' | 'unsupported'

/** @param tool of the task; undefined where it is not configured any more */
export function unstoppable(
  tool: TaskTool | undefined,
  { attached }: Pick<TaskRecord, 'attached'>,
): Unstoppable | undefined {
  if (attached && !tool?.attach?.cancel) return 'watched'
  return tool && !tool.capabilities.cancel ? 'unsupported' : undefined
}
