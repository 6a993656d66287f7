import { Client, type JSONRPCRequest, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
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

/** The official client of 2026-07-28 with the official tasks package. The endpoint's id outlives a server. */
export async function connect(url: string, person: Person): Promise<Connected> {
  const capabilities = { elicitation: { form: {} } }
  const client = new Client(clientInfo, { capabilities, versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  const raw = new StreamableHTTPClientTransport(new URL(url))
  await raw.start()
  const asked: string[] = []
  const session = createTaskSessionFromClient(client, {
    endpointId: 'runbridge-e2e',
    rawDispatch: rawDispatch(raw),
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
    close: async () => {
      await raw.close()
      await client.close()
    },
  }
}

type Answer = Awaited<ReturnType<RawClientDispatch>>

/** ext-tasks frames its own requests; they go out as they are, over a transport that is theirs alone. */
function rawDispatch(transport: StreamableHTTPClientTransport): RawClientDispatch {
  const pending = new Map<unknown, (answer: Answer) => void>()
  let count = 0
  transport.onmessage = (message) => {
    if ('method' in message) return
    const answer = 'error' in message ? { kind: 'error', ...message } : { kind: 'result', ...message }
    pending.get(message.id)?.(answer as unknown as Answer)
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
