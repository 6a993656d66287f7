export { RunbridgeServer, type RunbridgeServerProps } from './runbridge-server.js'
export type { WorkflowAccess } from './workflow-access.js'
