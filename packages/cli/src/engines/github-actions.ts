import { type Log, RunbridgeError, type TaskService } from '@runbridge/core'
import {
  createGitHubClients,
  type Feature,
  type GitHubActionsBackend,
  type GitHubActionsWorkflow,
  type GitHubCredentials,
  githubActions,
  githubWebhook,
} from '@runbridge/github-actions'
import type { Route } from '@runbridge/server'
import type { Config, ToolConfig } from '../config/schema.js'
import { type Bound, manner, type OpenEngine } from './bound.js'

type EngineConfig = NonNullable<Config['engines']['githubActions']>
type Entry = NonNullable<ToolConfig['githubActions']>

/** One set of clients for all repositories: the credential is the engine's. */
export function openGitHubActions(
  config: EngineConfig | undefined,
  { log }: { readonly log?: Log },
): OpenEngine<Entry, ToolConfig> {
  let opened: Promise<GitHubActionsBackend> | undefined

  async function open({ baseUrl, graceMs, pacing, readsPerSecond, reviewer, ...credentials }: EngineConfig) {
    const clients = await createGitHubClients({
      credentials: credentialsOf(credentials),
      ...(reviewer && { reviewer: credentialsOf(reviewer) }),
      baseUrl,
      pacing,
    })
    const warn = (message: string) => log?.warn({ engine: 'github-actions' }, message)
    return githubActions({ clients, visibilityMs: graceMs, readsPerSecond, warn })
  }

  return {
    async bind(entry, tool): Promise<Bound> {
      if (!config) {
        throw wrong(
          `Tool ${tool.name}: name a credential in \`engines.githubActions\`: \`token\`, \`app\` or \`gh\`.`,
        )
      }
      if (tool.humanInput !== 'off' && !config.reviewer) {
        const message = `Tool ${tool.name}: \`humanInput\` needs the own token of a person who may approve: name it in \`engines.githubActions.reviewer\`.`
        throw wrong(message)
      }
      opened ??= open(config)
      const backend = await opened
      const workflow = workflowOfEntry(entry)
      return {
        backend,
        workflow,
        describe: (served) =>
          `${tool.attach ? 'Watches runs' : START[served.capabilities.start]}: ${manner(served)}`,
        async access(_, signal) {
          const reports = await backend.checkAccess(workflow, featuresOf(tool), { signal })
          return reports.map(({ token, ...report }) => ({
            ...report,
            resource: `${entry.owner}/${entry.repo}${token === 'reviewer' ? ', as the reviewer' : ''}`,
          }))
        },
      }
    },
    close() {},
  }
}

const START = {
  idempotent: 'Starts can be repeated',
  findable: 'Runs show their key',
  blind: 'Runs do not show their key, so one whose dispatch is not answered can not be found',
}

function wrong(message: string): RunbridgeError {
  return new RunbridgeError('misconfigured', message)
}

function credentialsOf({ token, app, gh }: Pick<EngineConfig, 'token' | 'app' | 'gh'>): GitHubCredentials {
  if (token !== undefined) return { token }
  if (app) return { app: { ...app, privateKey: app.privateKey.replaceAll('\\n', '\n') } }
  if (gh) return { gh }
  throw wrong('No credential is named; the configuration was not checked.')
}

function workflowOfEntry(entry: Entry): GitHubActionsWorkflow {
  const { owner: _, repo: __, workflow: ___, ref, ...rest } = entry
  return { id: workflowId(entry), ...rest, ...(ref !== undefined && { refs: [ref].flat() }) }
}

export function workflowId({ owner, repo, workflow }: Entry): string {
  return `${owner}/${repo}/${workflow}`
}

function featuresOf({ humanInput, githubActions: entry, attach }: ToolConfig): Feature[] {
  const start = entry?.repositoryDispatch === undefined ? 'start' : 'repositoryDispatch'
  return [
    ...(attach ? [] : ([start] as const)),
    'follow',
    'failure',
    'cancel',
    ...(humanInput === 'off' ? [] : (['gates', 'forks'] as const)),
  ]
}

/** Where GitHub's deliveries are taken, if that is configured. */
export function githubRoutes(
  config: EngineConfig | undefined,
  { hint }: Pick<TaskService, 'hint'>,
): readonly Route[] {
  if (!config?.webhook) return []
  const { path, secret } = config.webhook
  return [{ path, handle: githubWebhook({ secret, hint }) }]
}
