export { type GoogleWorkflowsOptions, googleWorkflows } from './backend.js'
export { type AccessReport, checkAccess } from './check-access.js'
export {
  type CloseableGoogleWorkflowsClients,
  createGoogleWorkflowsClients,
  type GoogleWorkflowsClients,
  type GoogleWorkflowsClientsOptions,
} from './clients.js'
export { EngineFailure } from './engine-failure.js'
export { ERROR_TABLE } from './errors.js'
export type { Execution, ExecutionsApi } from './executions-api.js'
export { FEATURES, type Feature, PERMISSIONS, type Permission, permissionsFor } from './permissions.js'
export { parseWorkflowName, type WorkflowName, workflowName } from './resource-name.js'
export type { CallbackCall, RestApi, RestRequest } from './rest-api.js'
export { STATE_TABLE } from './states.js'
export type {
  CallLogLevel,
  GateConfig,
  GoogleWorkflow,
  HistoryLevel,
} from './workflow.js'
