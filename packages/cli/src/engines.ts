import type { Log } from '@runbridge/core'
import { workflowName } from '@runbridge/google-workflows'
import type { Config, ToolConfig } from './config/schema.js'
import type { BoundEngines } from './engines/bound.js'
import { githubRoutes, openGitHubActions, workflowId } from './engines/github-actions.js'
import { openGoogleWorkflows } from './engines/google-workflows.js'
import { openStepFunctions, type StepFunctionsEngineOptions } from './engines/step-functions.js'

export interface EngineOptions extends StepFunctionsEngineOptions {
  /** Told what the engines do that nobody expects. Default: silent. */
  readonly log?: Log
}

/** The engines, each opened when a tool first needs it. */
export function openEngines(config: Config['engines'], options: EngineOptions): BoundEngines<ToolConfig> {
  const stepFunctions = openStepFunctions(config.stepFunctions, options)
  const googleWorkflows = openGoogleWorkflows(config.googleWorkflows, options)
  const githubActions = openGitHubActions(config.githubActions, options)
  return {
    async bind(tool) {
      if (tool.stepFunctions) return stepFunctions.bind(tool.stepFunctions, tool)
      if (tool.googleWorkflows) return googleWorkflows.bind(tool.googleWorkflows, tool)
      if (tool.githubActions) return githubActions.bind(tool.githubActions, tool)
      throw new Error(`The tool ${tool.name} names no engine; the configuration was not checked.`)
    },
    routes: (service) => githubRoutes(config.githubActions, service),
    async close() {
      await Promise.all([stepFunctions.close(), googleWorkflows.close(), githubActions.close()])
    },
  }
}

/** The workflow of a tool as its engine names it. */
export function workflowOf({ stepFunctions, googleWorkflows, githubActions }: ToolConfig): string {
  if (githubActions) return workflowId(githubActions)
  return stepFunctions?.stateMachineArn ?? (googleWorkflows ? workflowName(googleWorkflows) : '')
}
