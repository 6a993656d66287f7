import type { Place } from './bodies.js'
import { type CallReport, callLog } from './calls.js'
import { type RunReport, runReports } from './control.js'
import { type Faults, faultScript } from './faults.js'
import { listen } from './listen.js'
import { begin } from './operations/workflows.js'
import { quota } from './quota.js'
import { createRepository, type RepositorySource } from './repository.js'
import type { Exchange } from './respond.js'
import { lastAttempt, type Run } from './run.js'
import { type AppSource, type DispatchBehaviour, type EmulatorState, runOf, type Token } from './state.js'
import { type Delivery, deliveryOf } from './webhook.js'

export interface GitHubEmulatorOptions {
  /** By full name, `octo/shop`. */
  readonly repositories: Readonly<Record<string, RepositorySource>>
  /** By secret. Default: any token is the user `octocat`, who may do everything. */
  readonly tokens?: Readonly<Record<string, Token>>
  readonly app?: AppSource
  /** Default `details`. */
  readonly dispatch?: DispatchBehaviour
  /** Requests an hour of each token. Default 5000. */
  readonly requestsPerHour?: number
  /** Default 0: a free port from the system. */
  readonly port?: number
  /** Epoch milliseconds; everything that runs follows it. Default `Date.now`. */
  readonly now?: () => number
  /** Told every request that reached an operation, and its reply. */
  readonly onExchange?: (exchange: Exchange) => void
}

export interface GitHubEmulator {
  /** Give it to Octokit as `baseUrl`. */
  readonly url: string
  /** The same, at the path where GitHub Enterprise Server has its API. */
  readonly enterpriseUrl: string
  readonly faults: Faults
  /** What arrived so far. */
  calls(): CallReport
  resetCalls(): void
  /** Every run, oldest first. */
  runs(): RunReport[]
  setDispatch(behaviour: DispatchBehaviour): void
  /** A run that somebody else started, such as one of a pull request. Returns its id. */
  start(repository: string, workflow: string, start?: Partial<StartedElsewhere>): number
  /** Runs it again: the same run, another attempt. */
  rerun(id: number): void
  /** As if somebody had deleted it. */
  forget(id: number): void
  /** The old name is redirected from now on. */
  rename(from: string, to: string): void
  /** The token does not count from now on, or counts as another. */
  setToken(secret: string, token: Token | undefined): void
  /** What GitHub would post to a webhook for the present state of a run. */
  delivery(id: number, event: 'workflow_run' | 'workflow_job' | 'deployment_review', secret: string): Delivery
  /** Ends the server and its connections. Nothing is kept. */
  close(): Promise<void>
}

export interface StartedElsewhere {
  /** Default `push`. */
  readonly event: string
  /** Default: the default branch. */
  readonly ref: string
  /** Default `A commit`. */
  readonly title: string
  readonly inputs: Readonly<Record<string, unknown>>
}

/** Starts the part of GitHub's REST API that runs of workflows need, on loopback; Octokit talks to it unchanged. */
export async function startGitHubEmulator(options: GitHubEmulatorOptions): Promise<GitHubEmulator> {
  const { now = Date.now, requestsPerHour = 5000, onExchange = () => undefined } = options
  let lastId = 1000
  const nextId = () => {
    lastId += 1
    return lastId
  }
  const state: EmulatorState = {
    repositories: Object.entries(options.repositories).map(([name, source]) =>
      createRepository(name, source, nextId, now()),
    ),
    renamed: new Map(),
    tokens: options.tokens && new Map(Object.entries(options.tokens)),
    app: options.app,
    blobs: new Map(),
    now,
    nextId,
    dispatch: options.dispatch ?? 'details',
    place: { api: '', html: '' } satisfies Place,
  }
  const faults = faultScript()
  const calls = callLog()
  const closing = new AbortController()
  const responder = {
    state,
    faults,
    calls,
    quota: quota(requestsPerHour, now),
    closing: closing.signal,
    onExchange,
  }
  const server = await listen(responder, options.port ?? 0)
  state.place = { api: server.url, html: server.url }

  function repositoryNamed(fullName: string) {
    const found = state.repositories.find(({ owner, name }) => `${owner}/${name}` === fullName)
    if (!found) throw new Error(`No repository ${fullName} here.`)
    return found
  }
  function known(id: number): Run {
    const run = runOf(state, id)
    if (!run) throw new Error(`No run ${id} here.`)
    return run
  }

  return {
    url: server.url,
    enterpriseUrl: `${server.url}/api/v3`,
    faults,
    calls: calls.report,
    resetCalls: calls.reset,
    runs: () => runReports(state),
    setDispatch(behaviour) {
      state.dispatch = behaviour
    },
    start(fullName, fileName, start = {}) {
      const repository = repositoryNamed(fullName)
      const workflow = repository.workflows.find((each) => each.fileName === fileName)
      if (!workflow) throw new Error(`No workflow ${fileName} in ${fullName}.`)
      const { event = 'push', ref = repository.defaultBranch, title = 'A commit', inputs = {} } = start
      const place = { state, repository, token: { login: 'somebody' } }
      return begin(place, workflow, { event, ref, title, inputs }).id
    },
    rerun(id) {
      const run = known(id)
      run.attempts.push({ number: lastAttempt(run).number + 1, startedAt: now(), reviews: [] })
    },
    forget: (id) => void known(id).repository.runs.delete(id),
    rename(from, to) {
      const repository = repositoryNamed(from)
      const [owner = '', name = ''] = to.split('/')
      Object.assign(repository, { owner, name })
      state.renamed.set(from.toLowerCase(), repository)
    },
    setToken(secret, token) {
      if (token) state.tokens?.set(secret, token)
      else state.tokens?.delete(secret)
    },
    delivery: (id, event, secret) => deliveryOf(state.place, known(id), event, secret, now()),
    async close() {
      closing.abort()
      await server.close()
    },
  }
}
