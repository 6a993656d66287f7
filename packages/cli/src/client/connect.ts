import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  type ApplicationElicitResult,
  createTaskSessionFromClient,
  type TaskEnabledSession,
} from '@modelcontextprotocol/ext-tasks/client'
import { RunbridgeError } from '@runbridge/core'
import { version } from '../version.js'
import { rawDispatch } from './raw-dispatch.js'

export interface ElicitationQuestion {
  readonly message: string
  readonly requestedSchema: unknown
}

export interface ConnectOptions {
  /** Sent with every request. Default: that of the environment, `RUNBRIDGE_TOKEN`, if there is one. */
  readonly token?: string | undefined
  /** Puts a question to whoever uses this client. Without it none is ever asked. */
  readonly onQuestion?: (question: ElicitationQuestion) => Promise<ApplicationElicitResult>
}

export interface Connection {
  readonly client: Client
  readonly session: TaskEnabledSession
  /** Ends the connection; tasks go on. */
  close(): Promise<void>
}

const clientInfo = { name: 'runbridge-cli', version }

/** Connects the official client, with tasks, to a server's `/mcp`. Throws `invalid_input` for what is no URL. */
export async function connect(url: string, options: ConnectOptions = {}): Promise<Connection> {
  const { onQuestion, token = process.env.RUNBRIDGE_TOKEN } = options
  if (!URL.canParse(url)) {
    throw new RunbridgeError(
      'invalid_input',
      `${JSON.stringify(url)} is no URL: write it as http://127.0.0.1:8080/mcp.`,
    )
  }
  const http = token ? { requestInit: { headers: { authorization: `Bearer ${token}` } } } : {}
  const capabilities = onQuestion ? { elicitation: { form: {} } } : {}
  const client = new Client(clientInfo, { capabilities, versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), http))
  const raw = new StreamableHTTPClientTransport(new URL(url), http)
  await raw.start()
  const session = createTaskSessionFromClient(client, {
    endpointId: url,
    rawDispatch: rawDispatch(raw),
    v2RequestFraming: {
      protocolVersion: client.getNegotiatedProtocolVersion() ?? '2026-07-28',
      clientInfo,
      clientCapabilities: capabilities,
    },
    ...(onQuestion && {
      onInputRequest: async (request) => {
        if (request.kind !== 'elicitation')
          throw new Error(`This client can not answer a ${request.kind} request.`)
        return (await onQuestion(request.params as unknown as ElicitationQuestion)) as never
      },
    }),
  })
  return {
    client,
    session,
    close: async () => {
      await raw.close()
      await client.close()
    },
  }
}
