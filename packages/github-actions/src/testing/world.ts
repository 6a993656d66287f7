import type { GetContext, GetResult, Marks, RunRef, Snapshot } from '@runbridge/core'
import {
  type GitHubEmulatorOptions,
  type RepositorySource,
  startGitHubEmulator,
  type WorkflowScript,
} from '@runbridge/emulators/github'
import { onTestFinished } from 'vitest'
import { type GitHubActionsBackend, githubActions } from '../backend.js'
import type { GitHubActionsWorkflow } from '../workflow.js'
import { emulatedClients, testClock, workflowFile } from './emulated-engine.js'

const never: AbortSignal = new AbortController().signal
export const context = { signal: never, owner: 'ada' }
export const CI: GitHubActionsWorkflow = { id: 'octo/shop/ci.yml' }

export interface WorldOptions extends Partial<GitHubEmulatorOptions> {
  /** Of `ci.yml` in `octo/shop`. */
  readonly script?: WorkflowScript
  readonly file?: string
  readonly repository?: RepositorySource
  readonly reviewer?: boolean
}

/** One repository with one workflow, a backend that talks to it, and a clock that the test moves. */
export async function createWorld(options: WorldOptions = {}) {
  const {
    script = {},
    file = workflowFile('version: { type: string }', 'CI'),
    repository,
    reviewer,
    ...rest
  } = options
  const clock = testClock()
  const emulator = await startGitHubEmulator({
    repositories: { 'octo/shop': { workflows: { 'ci.yml': { file, script } }, ...repository } },
    now: clock.now,
    ...rest,
  })
  const clients = await emulatedClients(emulator.url, reviewer)
  onTestFinished(() => emulator.close())
  const warnings: string[] = []
  const another = (): GitHubActionsBackend =>
    githubActions({ clients, now: clock.now, warn: (message) => warnings.push(message) })
  const backend = another()
  let keys = 0

  async function started(input = {}, workflow = CI): Promise<RunRef> {
    keys += 1
    const result = await backend.start(workflow, `rb-${keys}`, input, context)
    if (result.kind !== 'started') throw new Error(`${result.kind}: ${result.error.message}`)
    return result.run
  }

  const look = (run: RunRef, more: Partial<GetContext> = {}, workflow = CI): Promise<GetResult> =>
    backend.get(workflow, run, { ...context, gates: false, progress: true, ...more })

  async function seen(run: RunRef, more: Partial<GetContext> = {}, workflow = CI): Promise<Snapshot> {
    const result = await look(run, more, workflow)
    if (result.kind !== 'snapshot') throw new Error(`not seen: ${JSON.stringify(result)}`)
    return result.snapshot
  }

  /** Looks again and again with the marks of the look before, as the service does. */
  function follower(run: RunRef, more: Partial<GetContext> = {}, workflow = CI) {
    let marks: Marks | undefined
    return async (): Promise<GetResult> => {
      const result = await look(run, { ...more, ...(marks && { marks }) }, workflow)
      if (result.kind === 'snapshot') marks = result.marks ?? marks
      return result
    }
  }

  return { emulator, clock, clients, backend, another, warnings, started, look, seen, follower }
}
