import { RunbridgeError, type Workflow } from '@runbridge/core'

/** A workflow file as a tool binds it. */
export interface GitHubActionsWorkflow extends Workflow {
  /**
   * `owner/repo/ci.yml`: the file below `.github/workflows`. `owner/repo/*`: any of the repository's, for a tool that
   * only watches runs.
   */
  readonly id: string
  /** The branches and tags that a call may run; the first is the default. Default: the default branch alone. */
  readonly refs?: readonly string[] | undefined
  /** The argument that chooses among several refs. Default `ref`. */
  readonly refArgument?: string | undefined
  /**
   * The input that carries the run key, by which a run is found again where its `run-name` shows it. For
   * `repositoryDispatch` the member of the payload. Default `runbridge_key`.
   */
  readonly runKeyInput?: string | undefined
  /** Starts by a `repository_dispatch` of this type, with the arguments as payload. Default: `workflow_dispatch`. */
  readonly repositoryDispatch?: string | undefined
  /** The artifact whose JSON is the output of the run; `false`: none is looked for. Default `runbridge-result`. */
  readonly resultArtifact?: string | false | undefined
  /** How long after a cancel the run is stopped by force, in ms; `false`: never. Default 300,000. */
  readonly forceCancelAfterMs?: number | false | undefined
}

export interface WorkflowName {
  readonly owner: string
  readonly repo: string
  /** `*`: any. */
  readonly file: string
}

/** GitHub's own rules for the names of accounts and repositories, and a file in one folder. */
const ID = /^([A-Za-z0-9](?:[A-Za-z0-9_-]{0,38}))\/([A-Za-z0-9._-]{1,100})\/([A-Za-z0-9._-]+\.ya?ml|\*)$/

/** Throws `misconfigured` for what names no workflow file. */
export function parseWorkflowId(id: string): WorkflowName {
  const [, owner, repo, file] = ID.exec(id) ?? []
  if (owner === undefined || repo === undefined || file === undefined || /^\.{1,2}$/.test(repo)) {
    throw new RunbridgeError(
      'misconfigured',
      `${id} names no workflow; write owner/repo/file.yml, with the file's name below .github/workflows.`,
    )
  }
  return { owner, repo, file }
}

export const DEFAULT_RUN_KEY_INPUT = 'runbridge_key'
export const DEFAULT_REF_ARGUMENT = 'ref'
export const DEFAULT_RESULT_ARTIFACT = 'runbridge-result'
export const DEFAULT_FORCE_CANCEL_MS = 300_000
