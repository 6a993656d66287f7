import type { JSONRPCRequest, Transport } from '@modelcontextprotocol/client'
import type { RawClientDispatch } from '@modelcontextprotocol/ext-tasks/client'

type Answer = Awaited<ReturnType<RawClientDispatch>>
type Wire = Parameters<RawClientDispatch>[0]

/**
 * Sends task requests as they are over a transport of their own: the SDK client's codecs refuse the shapes of the
 * tasks extension, so ext-tasks asks its host for this. The transport must be started and belong to nobody else.
 */
export function rawDispatch(transport: Transport): RawClientDispatch {
  const pending = new Map<string, (answer: Answer) => void>()
  let count = 0
  transport.onmessage = (message) => {
    if ('method' in message || message.id === undefined) return
    const settle = pending.get(String(message.id))
    if ('error' in message) settle?.({ kind: 'error', error: message.error as ErrorOf<Answer> })
    else settle?.({ kind: 'result', result: message.result as Wire })
  }
  return async (request, options) => {
    const id = `raw-${++count}`
    const signal = options?.signal
    signal?.throwIfAborted()
    const answer = new Promise<Answer>((resolve, reject) => {
      pending.set(id, resolve)
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
      const message = { ...(request as object), jsonrpc: '2.0', id } as JSONRPCRequest
      transport.send(message, signal && { requestSignal: signal }).catch(reject)
    })
    return answer.finally(() => pending.delete(id))
  }
}

type ErrorOf<A> = A extends { kind: 'error'; error: infer E } ? E : never
