import type { Place } from './arns.js'
import type { Execution } from './execution.js'
import type { StateMachineRecord } from './state-machines.js'
import type { TaskTokens } from './task-tokens.js'
import type { TaskFunction, TaskFunctions } from './tasks.js'

/** Everything that one emulator holds. It lives in memory and ends with the process. */
export interface EmulatorState {
  place: Place
  /** Epoch milliseconds. */
  now: () => number
  newId: () => string
  random: () => number
  options: { tasks: TaskFunctions; defaultTask: TaskFunction | undefined }
  tokenPlaceholder: string
  tokens: TaskTokens
  stateMachines: Map<string, StateMachineRecord>
  /** By ARN, oldest first. Express executions are kept too, though the API does not show them. */
  executions: Map<string, Execution>
}
