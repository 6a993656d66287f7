export type { CallReport, StartCall } from './calls.js'
export type { ExecutionView } from './control.js'
export {
  type DefinitionSource,
  type StateMachineSource,
  type StepFunctionsEmulator,
  type StepFunctionsEmulatorOptions,
  startStepFunctionsEmulator,
} from './emulator.js'
export type { Ending, ExecutionStatus } from './execution.js'
export type { Fault, Faults, FaultTarget } from './faults.js'
export type { OpenTask } from './task-tokens.js'
export type { TaskCall, TaskFunction, TaskFunctions } from './tasks.js'
