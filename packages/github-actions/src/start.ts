import {
  type CallContext,
  type JsonObject,
  RunbridgeError,
  type StartResult,
  toRunbridgeError,
} from '@runbridge/core'
import { dispatchedSchema } from './api.js'
import type { Engine } from './engine.js'
import { engineError, limitedForMs, messageOf, statusOf } from './errors.js'
import { inputsOf, payloadOf, type Trigger } from './input-schema.js'
import { type Answer, send, wasNotSent } from './request.js'
import {
  DEFAULT_REF_ARGUMENT,
  DEFAULT_RUN_KEY_INPUT,
  type GitHubActionsWorkflow,
  parseWorkflowId,
  type WorkflowName,
} from './workflow.js'
import { defaultRef, readTrigger } from './workflow-file.js'

interface Start {
  readonly engine: Engine
  readonly workflow: GitHubActionsWorkflow
  readonly name: WorkflowName
  readonly ref: string
  readonly context: CallContext
}

/**
 * Reads the workflow file, then dispatches once. An answer without a run's id is `unknown`: the run is there, and is
 * to be found by its key.
 */
export async function start(
  engine: Engine,
  workflow: GitHubActionsWorkflow,
  runKey: string,
  input: JsonObject,
  context: CallContext,
): Promise<StartResult> {
  let send: () => Promise<Answer>
  try {
    send = await prepared(engine, workflow, runKey, input, context)
  } catch (thrown) {
    // Nothing was sent yet.
    return { kind: 'refused', error: toRunbridgeError(thrown) }
  }
  const what = `a run of ${workflow.id}`
  const permission = workflow.repositoryDispatch === undefined ? 'Actions: write' : 'Contents: write'
  try {
    const { data, status } = await send()
    const dispatched = dispatchedSchema.safeParse(data)
    if (dispatched.success)
      return { kind: 'started', run: { id: dispatched.data.workflow_run_id, attempt: 1 } }
    const message = `GitHub took the dispatch for ${what} and did not say which run it is (HTTP ${status}).`
    return { kind: 'unknown', error: new RunbridgeError('unknown_outcome', message) }
  } catch (thrown) {
    const error = engineError(thrown, { what, permission }, engine.now())
    if (didNothing(engine, thrown)) return { kind: 'refused', error }
    const message = `${error.message} It may have started.`
    return { kind: 'unknown', error: new RunbridgeError('unknown_outcome', message, { cause: thrown }) }
  }
}

/** GitHub said so in its own words, or nothing left. A 5xx, a proxy's page and silence say nothing of the kind. */
function didNothing(engine: Engine, thrown: unknown): boolean {
  if (wasNotSent(thrown)) return true
  const status = statusOf(thrown) ?? 500
  const said = messageOf(thrown) !== '' || limitedForMs(thrown, engine.now()) !== undefined
  return status >= 400 && status < 500 && said
}

async function prepared(
  engine: Engine,
  workflow: GitHubActionsWorkflow,
  runKey: string,
  input: JsonObject,
  context: CallContext,
): Promise<() => Promise<Answer>> {
  const name = parseWorkflowId(workflow.id)
  if (name.file === '*') {
    throw new RunbridgeError(
      'misconfigured',
      `${workflow.id} names no workflow to start; it only watches runs.`,
    )
  }
  const { ref: asked, rest } = splitRef(workflow, input)
  const ref = asked ?? (await defaultRef(engine, workflow, name, context))
  const trigger = await readTrigger(engine, workflow, name, ref, context)
  const key = { name: workflow.runKeyInput ?? DEFAULT_RUN_KEY_INPUT, value: runKey }
  const start: Start = { engine, workflow, name, ref, context }
  if (workflow.repositoryDispatch !== undefined) {
    const payload = payloadOf(rest, key)
    return () => dispatchRepository(start, payload)
  }
  checkNames(rest, trigger, start)
  const inputs = inputsOf(rest, trigger.takesKey ? key : undefined)
  return () => dispatch(start, inputs)
}

/** The ref that a call chose, which must be one of the list. */
function splitRef(
  { refs = [], refArgument = DEFAULT_REF_ARGUMENT, repositoryDispatch }: GitHubActionsWorkflow,
  input: JsonObject,
): { readonly ref: string | undefined; readonly rest: JsonObject } {
  if (refs.length < 2 || repositoryDispatch !== undefined) return { ref: refs[0], rest: input }
  const { [refArgument]: chosen = refs[0], ...rest } = input
  if (typeof chosen === 'string' && refs.includes(chosen)) return { ref: chosen, rest }
  throw new RunbridgeError('invalid_input', `${refArgument}: only ${refs.join(', ')} may be run.`)
}

/** The tool's schema is that of the first ref; another one may take other inputs. */
function checkNames(input: JsonObject, { schema }: Trigger, { name, ref }: Start): void {
  const known = Object.keys((schema.properties ?? {}) as JsonObject)
  const unknown = Object.keys(input).filter((argument) => !known.includes(argument))
  const required = ((schema.required ?? []) as string[]).filter((argument) => input[argument] === undefined)
  const problems = [
    ...unknown.map((argument) => `${argument} is no input of it.`),
    ...required.map((argument) => `${argument} is missing.`),
  ]
  if (problems.length === 0) return
  throw new RunbridgeError(
    'invalid_input',
    `${name.file} at ${ref} does not take these arguments. ${problems.join(' ')}`,
  )
}

/**
 * Asks for the run's id. Older GitHub Enterprise refuses that very field, which says that nothing ran, so it is asked
 * once more without.
 */
async function dispatch(start: Start, inputs: Readonly<Record<string, string>>): Promise<Answer> {
  const { engine, name, ref, context } = start
  const sent = (details: object) =>
    send(engine, {
      what: `a run of ${start.workflow.id}`,
      client: engine.clients.writes,
      route: 'POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches',
      path: { owner: name.owner, repo: name.repo, workflow_id: name.file },
      body: { ref, inputs, ...details },
      signal: context.signal,
    })
  if (engine.host.refusesRunDetails) return sent({})
  try {
    return await sent({ return_run_details: true })
  } catch (thrown) {
    if (statusOf(thrown) !== 422 || !messageOf(thrown).includes('return_run_details')) throw thrown
    engine.host.refusesRunDetails = true
    return sent({})
  }
}

function dispatchRepository(start: Start, payload: JsonObject): Promise<Answer> {
  const { engine, name, workflow, context } = start
  return send(engine, {
    what: `a run of ${workflow.id}`,
    client: engine.clients.writes,
    route: 'POST /repos/{owner}/{repo}/dispatches',
    path: { owner: name.owner, repo: name.repo },
    body: { event_type: workflow.repositoryDispatch, client_payload: payload },
    signal: context.signal,
  })
}
