import { type AttachResult, type CallContext, RunbridgeError, type RunRef } from '@runbridge/core'
import type { ApiRun } from './api.js'
import type { Engine } from './engine.js'
import { engineError } from './errors.js'
import { readRun } from './run-reads.js'
import { type GitHubActionsWorkflow, parseWorkflowId, type WorkflowName } from './workflow.js'

export const REFERENCES =
  'the address of a run, such as `https://github.com/octo/shop/actions/runs/1`, or its id'

/** A run that is there, in its present attempt or the one that the address names. */
export async function attach(
  engine: Engine,
  workflow: GitHubActionsWorkflow,
  reference: string,
  context: CallContext,
): Promise<AttachResult> {
  try {
    const name = parseWorkflowId(workflow.id)
    const { id, attempt } = parseReference(reference, engine.clients.host, name)
    const run = { id, attempt: attempt ?? 1 }
    const present = await readRun({ engine, name, run, context }, engine.clients.reads)
    checkWorkflow(present, workflow, name)
    const last = present.run_attempt ?? 1
    if (attempt !== undefined && attempt > last) {
      throw new RunbridgeError(
        'invalid_input',
        `Run ${id} has ${last} attempts, so there is no attempt ${attempt}.`,
      )
    }
    return { kind: 'attached', run: { id, attempt: attempt ?? last } satisfies RunRef }
  } catch (thrown) {
    const asked = { what: `this run in the repository of ${workflow.id}`, permission: 'Actions: read' }
    return { kind: 'refused', error: engineError(thrown, asked, engine.now()) }
  }
}

/** An id, or an address on our host and in our repository: nothing else can be watched with this credential. */
function parseReference(
  reference: string,
  host: string,
  { owner, repo }: WorkflowName,
): { readonly id: string; readonly attempt: number | undefined } {
  const text = reference.trim()
  if (/^\d{1,20}$/.test(text)) return { id: text, attempt: undefined }
  const url = URL.canParse(text) ? new URL(text) : undefined
  const [, ofOwner = '', ofRepo = '', id, attempt] =
    /^\/([^/]+)\/([^/]+)\/actions\/runs\/(\d{1,20})(?:\/attempts\/(\d{1,6}))?(?:\/|$)/.exec(
      url?.pathname ?? '',
    ) ?? []
  const here = url?.host === host && same(ofOwner, owner) && same(ofRepo, repo)
  if (id !== undefined && here) return { id, attempt: attempt === undefined ? undefined : Number(attempt) }
  throw new RunbridgeError(
    'invalid_input',
    `This is no run that this tool may watch; write an address such as https://${host}/${owner}/${repo}/actions/runs/1, or the id of a run in ${owner}/${repo}.`,
  )
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

function checkWorkflow({ path }: ApiRun, { id }: GitHubActionsWorkflow, { file }: WorkflowName): void {
  // `.github/workflows/ci.yml@main`
  const of = path?.split('@')[0]?.split('/').at(-1)
  if (file === '*' || of === undefined || of === file) return
  throw new RunbridgeError('invalid_input', `This is a run of ${of}, and this tool watches runs of ${id}.`)
}
