import type { GetContext, JsonObject, OwnerContext } from '@runbridge/core'
import type { GoogleWorkflowsClients } from '../clients.js'
import { EngineFailure } from '../engine-failure.js'
import type { Execution } from '../executions-api.js'

type Answer<T> = T | Error | ((...given: never[]) => T | Error)

export interface Script {
  readonly create?: Answer<Execution>
  readonly get?: Answer<Execution>
  readonly list?: Answer<readonly Execution[]>
  readonly cancel?: Answer<Execution>
  /** By the end of the path: `callbacks`, `stepEntries`, or else the resource itself. */
  readonly rest?: Readonly<Record<string, Answer<JsonObject>>>
  readonly callback?: Answer<void>
}

export interface ScriptedClients extends GoogleWorkflowsClients {
  /** What was sent, as `[call, argument]`. */
  readonly sent: (readonly [string, unknown])[]
}

/** Clients that answer each call as scripted. */
export function scriptedClients(script: Script): ScriptedClients {
  const sent: ScriptedClients['sent'] = []
  async function answer<T>(call: string, given: Answer<T> | undefined, argument: unknown): Promise<T> {
    sent.push([call, argument])
    if (given === undefined && call !== 'callback') throw new Error(`No answer is scripted for ${call}.`)
    const value = typeof given === 'function' ? (given as (argument: unknown) => T | Error)(argument) : given
    if (value instanceof Error) throw value
    return value as T
  }
  const api = {
    create: (parent: string, execution: Execution) => answer('create', script.create, { parent, execution }),
    get: (name: string) => answer('get', script.get, name),
    list: (parent: string, filter: string) => answer('list', script.list, { parent, filter }),
    cancel: (name: string) => answer('cancel', script.cancel, name),
  }
  return {
    sent,
    reads: api,
    writes: api,
    rest: {
      send: (request) => {
        const end = request.path.split('/').at(-1) ?? ''
        const known = script.rest && Object.hasOwn(script.rest, end) ? end : 'resource'
        return answer(known, script.rest?.[known], request)
      },
      callbackUrl: (name) => `https://workflowexecutions.googleapis.com/v1/${name}`,
      callback: (call) => answer('callback', script.callback, call),
    },
  }
}

export const failure = (status: EngineFailure['status'], said = '') => new EngineFailure(status, status, said)

export const WORKFLOW = 'projects/shop/locations/europe-west1/workflows/deploy'
export const EXECUTION = `${WORKFLOW}/executions/e-1`
const never: AbortSignal = new AbortController().signal
export const context: OwnerContext = { signal: never, owner: 'ada' }
export const look: GetContext = { ...context, gates: false, progress: true }
