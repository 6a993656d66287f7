import { downloadArtifact, listArtifacts } from './artifacts.js'
import { getPendingDeployments, getReviews, reviewPendingDeployments } from './deployments.js'
import type { Operation } from './operation.js'
import {
  approveRun,
  cancelRun,
  downloadJobLog,
  forceCancelRun,
  getRun,
  getRunAttempt,
  listAnnotations,
  listJobs,
  listRepositoryRuns,
  listWorkflowRuns,
} from './runs.js'
import {
  createDispatchEvent,
  createWorkflowDispatch,
  getContent,
  getRepository,
  getWorkflow,
  listWorkflows,
} from './workflows.js'

/** What is served, by the `operationId` of GitHub's own description. */
export const operations = {
  'repos/get': getRepository,
  'repos/get-content': getContent,
  'repos/create-dispatch-event': createDispatchEvent,
  'actions/get-workflow': getWorkflow,
  'actions/list-repo-workflows': listWorkflows,
  'actions/create-workflow-dispatch': createWorkflowDispatch,
  'actions/list-workflow-runs': listWorkflowRuns,
  'actions/list-workflow-runs-for-repo': listRepositoryRuns,
  'actions/get-workflow-run': getRun,
  'actions/get-workflow-run-attempt': getRunAttempt,
  'actions/list-jobs-for-workflow-run-attempt': listJobs,
  'actions/cancel-workflow-run': cancelRun,
  'actions/force-cancel-workflow-run': forceCancelRun,
  'actions/approve-workflow-run': approveRun,
  'actions/get-pending-deployments-for-run': getPendingDeployments,
  'actions/review-pending-deployments-for-run': reviewPendingDeployments,
  'actions/get-reviews-for-run': getReviews,
  'actions/download-job-logs-for-workflow-run': downloadJobLog,
  'actions/list-workflow-run-artifacts': listArtifacts,
  'actions/download-artifact': downloadArtifact,
  'checks/list-annotations': listAnnotations,
} as const satisfies Record<string, Operation>

export type OperationName = keyof typeof operations

export function isOperation(name: string): name is OperationName {
  return Object.hasOwn(operations, name)
}

const table = Object.entries(operations).map(([name, operation]) => ({
  name: name as OperationName,
  method: operation.method,
  pattern: new RegExp(
    `^${operation.path.replace('{path}', '(?<path>.+)').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`,
  ),
}))

export function matchOperation(
  method: string,
  path: string,
): { readonly name: OperationName; readonly params: Record<string, string> } | undefined {
  for (const { name, method: expected, pattern } of table) {
    const found = expected === method ? pattern.exec(path) : null
    if (!found) continue
    const params = Object.entries(found.groups ?? {}).map(([key, value]) => [key, decodeURIComponent(value)])
    return { name, params: Object.fromEntries(params) }
  }
  return undefined
}
