import type { GetContext, OwnerContext } from '@runbridge/core'
import type { StepFunctionsClient, StepFunctionsClients } from '../clients.js'

type Answer = object | Error | ((input: Record<string, unknown>) => object | Error)

export interface ScriptedClients extends StepFunctionsClients {
  /** What was sent, as `client Command`. */
  readonly sent: {
    readonly client: string
    readonly command: string
    readonly input: Record<string, unknown>
  }[]
}

/**
 * Clients that answer each command as scripted, whichever of them is asked: one answer again and again, or one
 * after the other and then the last.
 */
export function scriptedClients(script: Record<string, Answer | Answer[]>): ScriptedClients {
  const sent: ScriptedClients['sent'] = []
  const queues = new Map(Object.entries(script).map(([name, answer]) => [name, [answer].flat()]))

  const client = (name: string): StepFunctionsClient => {
    const send = async (command: { constructor: { name: string }; input: Record<string, unknown> }) => {
      const kind = command.constructor.name.replace(/Command$/, '')
      sent.push({ client: name, command: kind, input: command.input })
      const queue = queues.get(kind) ?? []
      const answer = queue.length > 1 ? queue.shift() : queue[0]
      if (answer === undefined) throw new Error(`No answer is scripted for ${kind}.`)
      const given = typeof answer === 'function' ? answer(command.input) : answer
      if (given instanceof Error) throw given
      return given
    }
    return { send: send as unknown as StepFunctionsClient['send'] }
  }
  return {
    sent,
    reads: client('reads'),
    writes: client('writes'),
    starts: client('starts'),
    sync: client('sync'),
    region: 'us-east-1',
  }
}

/** An error as the SDK throws it for an answer of AWS. */
export function awsError(name: string, message = '', status = 400, attempts = 1): Error {
  return Object.assign(new Error(message), { name, $metadata: { httpStatusCode: status, attempts } })
}

/** An error as the SDK throws it where there was no answer. */
export function networkError(code: string): Error {
  return Object.assign(new Error(`read ${code}`), { code, $metadata: { attempts: 1 } })
}

export const MACHINE = 'arn:aws:states:us-east-1:123456789012:stateMachine:deploy'
export const EXECUTION = 'arn:aws:states:us-east-1:123456789012:execution:deploy:rb-1'
const never: AbortSignal = new AbortController().signal
export const context: OwnerContext = { signal: never, owner: 'ada' }
export const look: GetContext = { ...context, gates: false, progress: false }

let clock = Date.UTC(2026, 0, 2, 3, 4, 5)
/** History events from short notation: `[id, previous, type, details]`; a second apart, details under AWS's name. */
export function history(...events: [number, number, string, object?][]) {
  clock = Date.UTC(2026, 0, 2, 3, 4, 5)
  return events.map(([id, previousEventId, type, details]) => {
    clock += 1000
    const field = /State(Entered|Exited)$/.exec(type)
      ? `state${type.replace(/^.*State/, '')}EventDetails`
      : `${type.charAt(0).toLowerCase()}${type.slice(1)}EventDetails`
    return { id, previousEventId, type, timestamp: new Date(clock), ...(details && { [field]: details }) }
  })
}

/** Answers GetExecutionHistory newest first, in pages of the size that is asked for. */
export function historyPages(events: () => readonly { id: number }[]) {
  return ({ maxResults, nextToken }: Record<string, unknown>) => {
    const newest = [...events()].reverse()
    const from = nextToken === undefined ? 0 : newest.findIndex((event) => event.id === Number(nextToken))
    const page = newest.slice(from, from + Number(maxResults))
    const next = newest[from + Number(maxResults)]
    return { events: page, ...(next && { nextToken: String(next.id) }) }
  }
}
