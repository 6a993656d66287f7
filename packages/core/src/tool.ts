import type { Backend, Capabilities, Workflow } from './backend.js'

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
  /** How long a task is kept after its recorded end, in ms. */
  readonly retainMs: number
}
