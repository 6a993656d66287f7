export { parseStateMachineArn, type StateMachineName } from './arn.js'
export { type StepFunctionsBackend, type StepFunctionsOptions, stepFunctions } from './backend.js'
export { type AccessReport, checkAccess } from './check-access.js'
export {
  type AwsCredentials,
  type CloseableStepFunctionsClients,
  createStepFunctionsClients,
  type StepFunctionsClient,
  type StepFunctionsClients,
  type StepFunctionsClientsOptions,
} from './clients.js'
export { ERROR_TABLE } from './errors.js'
export type { OwnerClients } from './owner-clients.js'
export { ownerSession, type RoleSession } from './owner-session.js'
export {
  FEATURES,
  type Feature,
  type Grant,
  PERMISSIONS,
  type Permission,
  permissionsFor,
} from './permissions.js'
export { type ApiQuota, QUOTA_ACTIONS, QUOTAS, type QuotaAction, quotasIn } from './quotas.js'
export { STATE_TABLE } from './states.js'
export { type StatusChangeOptions, statusChangePattern, statusChanges } from './status-change.js'
export type { GateConfig, StepFunctionsWorkflow } from './workflow.js'
