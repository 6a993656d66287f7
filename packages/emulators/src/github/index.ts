export type { CallReport } from './calls.js'
export type { RunReport } from './control.js'
export {
  type GitHubEmulator,
  type GitHubEmulatorOptions,
  type StartedElsewhere,
  startGitHubEmulator,
} from './emulator.js'
export type { Fault, Faults, FaultTarget } from './faults.js'
export { type OperationName, operations } from './operations/index.js'
export type { EnvironmentSource, RepositorySource, WorkflowSource } from './repository.js'
export type { Exchange } from './respond.js'
export type { Review } from './run.js'
export type {
  AnnotationScript,
  ArtifactScript,
  Conclusion,
  JobScript,
  RunFacts,
  RunScript,
  StepConclusion,
  StepScript,
  WorkflowScript,
} from './script.js'
export type { AppSource, DispatchBehaviour, PermissionName, Permissions, Token } from './state.js'
export type { Delivery } from './webhook.js'
export { type ZipEntry, zip, zipOf } from './zip.js'
