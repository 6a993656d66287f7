export type { CallReport, StartCall } from './calls.js'
export type { OpenCallback } from './control.js'
export {
  type GoogleWorkflowsEmulator,
  type GoogleWorkflowsEmulatorOptions,
  startGoogleWorkflowsEmulator,
} from './emulator.js'
export type { RpcStatus } from './errors.js'
export type { Fault, Faults, FaultTarget, Operation } from './faults.js'
export type { HistoryLevel, SimulatedStep, SimulatedWorkflow } from './simulated.js'
