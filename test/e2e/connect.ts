import { Client, type JSONRPCRequest, type Transport } from '@modelcontextprotocol/client'
import {
  type ApplicationElicitResult,
  createTaskSessionFromClient,
  type RawClientDispatch,
  type TaskEnabledSession,
} from '@modelcontextprotocol/ext-tasks/client'

/** How a person answers, by what is asked: the message of the elicitation. */
export type Person = (message: string) => ApplicationElicitResult

export interface Connected {
  readonly client: Client
  readonly session: TaskEnabledSession
  /** What the person was asked, in order. */
  readonly asked: readonly string[]
  close(): Promise<void>
}

const clientInfo = { name: 'runbridge-e2e', version: '0.0.0' }

/** The capability without which the client subscribes to no tasks. */
export const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } }

/**
 * The official client of 2026-07-28 with the official tasks package, over one transport. The endpoint's id
 * outlives a server.
 * @param declared what else the client says it can do in its own requests
 */
export async function connect(
  transport: Transport,
  person: Person,
  declared: Partial<typeof TASKS> = {},
): Promise<Connected> {
  const capabilities = { elicitation: { form: {} }, ...declared }
  const client = new Client(clientInfo, { capabilities, versionNegotiation: { mode: 'auto' } })
  await client.connect(transport)
  const asked: string[] = []
  const session = createTaskSessionFromClient(client, {
    endpointId: 'runbridge-e2e',
    rawDispatch: rawDispatch(transport),
    v2RequestFraming: {
      protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
      clientInfo,
      clientCapabilities: capabilities,
    },
    onInputRequest: async (request) => {
      if (request.kind !== 'elicitation')
        throw new Error(`Asked for ${request.kind}, which was not declared.`)
      const message = String(request.params.message)
      asked.push(message)
      return person(message) as never
    },
  })
  return {
    client,
    session,
    asked,
    close: () => client.close(),
  }
}

type Answer = Awaited<ReturnType<RawClientDispatch>>

/** ext-tasks frames its own requests; they go out as they are, beside the client's, and their answers come here. */
function rawDispatch(transport: Transport): RawClientDispatch {
  const pending = new Map<unknown, (answer: Answer) => void>()
  let count = 0
  const deliver = transport.onmessage
  transport.onmessage = (message, extra) => {
    const settle = 'method' in message ? undefined : pending.get(message.id)
    if (!settle) return deliver?.call(transport, message, extra)
    settle({ kind: 'error' in message ? 'error' : 'result', ...message } as unknown as Answer)
  }
  return async (request, options) => {
    const id = `e2e-${++count}`
    options?.signal?.throwIfAborted()
    const answered = new Promise<Answer>((resolve, reject) => {
      pending.set(id, resolve)
      options?.signal?.addEventListener('abort', () => reject(options.signal?.reason), { once: true })
      transport.send({ ...(request as object), jsonrpc: '2.0', id } as JSONRPCRequest).catch(reject)
    })
    return answered.finally(() => pending.delete(id))
  }
}
