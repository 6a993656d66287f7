export { type GitHubActionsBackend, type GitHubActionsOptions, githubActions } from './backend.js'
export type { AccessReport } from './check-access.js'
export {
  createGitHubClients,
  type GitHubClient,
  type GitHubClients,
  type GitHubClientsOptions,
} from './clients.js'
export type { GitHubCredentials } from './credentials.js'
export { ERROR_TABLE } from './errors.js'
export { FEATURES, type Feature, PERMISSIONS, type Permission } from './permissions.js'
export { STATE_TABLE } from './states.js'
export { type GitHubWebhookOptions, githubWebhook } from './webhook.js'
export {
  DEFAULT_FORCE_CANCEL_MS,
  DEFAULT_RESULT_ARTIFACT,
  DEFAULT_RUN_KEY_INPUT,
  type GitHubActionsWorkflow,
  parseWorkflowId,
} from './workflow.js'
