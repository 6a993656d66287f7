import { setTimeout as pause } from 'node:timers/promises'

const VERSION = '2025-11-25'
const INITIALIZE = {
  protocolVersion: VERSION,
  capabilities: { elicitation: { form: {} } },
  clientInfo: { name: 'faults', version: '1' },
}
/** A held request is given up then and made anew, in ms. */
const HELD_MS = 20_000

/**
 * A client of 2025-11-25 in a session that is to last, whichever replica answers. It agrees to every question, on
 * whatever stream it comes.
 */
export async function openSession(/** @type {string} */ url) {
  let count = 0
  let ended = false
  /** Times that a replica did not know the session. */
  let unknown = 0
  let id = ''
  const closing = new AbortController()

  const headers = () => ({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(id && { 'mcp-session-id': id, 'mcp-protocol-version': VERSION }),
  })

  async function post(/** @type {object} */ body, /** @type {string} */ to = url) {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(HELD_MS)])
    const response = await fetch(to, {
      method: 'POST',
      headers: headers(),
      body: JSON.stringify(body),
      signal,
    })
    if (response.status === 404) unknown += 1
    return response
  }

  /** Every message of a stream, until it ends or breaks. */
  async function read(/** @type {Response} */ response, /** @type {(message: any) => void} */ onMessage) {
    let rest = ''
    for await (const chunk of response.body ?? []) {
      const events = (rest + Buffer.from(chunk).toString()).split('\n\n')
      rest = events.pop() ?? ''
      for (const event of events) {
        const data = /^data: (.+)$/m.exec(event)?.[1]
        if (data !== undefined) take(JSON.parse(data))
      }
    }
    if (rest.startsWith('{')) take(JSON.parse(rest))

    function take(/** @type {any} */ message) {
      if (message.method === 'elicitation/create') void agree(message.id)
      onMessage(message)
    }
  }

  async function agree(/** @type {string} */ question) {
    const body = { jsonrpc: '2.0', id: question, result: { action: 'accept', content: {} } }
    for (let tries = 0; tries < 10 && !ended; tries += 1) {
      const taken = await post(body).catch(() => undefined)
      if (taken?.status === 202) return
      await pause(200)
    }
  }

  /** The answer, undefined where it was lost. */
  async function ask(
    /** @type {number} */ request,
    /** @type {string} */ method,
    /** @type {object} */ params,
    to = url,
  ) {
    /** @type {any} */
    let answer
    try {
      const response = await post({ jsonrpc: '2.0', id: request, method, params }, to)
      if (method === 'initialize') id = response.headers.get('mcp-session-id') ?? id
      await read(response, (message) => {
        if (message.id === request && message.method === undefined) answer = message
      })
    } catch {
      // The replica died over it, or was cut off.
    }
    return answer
  }

  /** The stream of the session itself: what nobody else puts comes here. */
  async function listen() {
    while (!ended) {
      try {
        const response = await fetch(url, { headers: headers(), signal: closing.signal })
        if (response.ok) await read(response, () => {})
      } catch {
        // Opened again.
      }
      if (!ended) await pause(200)
    }
  }

  while (!id) {
    await ask(++count, 'initialize', INITIALIZE)
    if (!id) await pause(200)
  }
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' }).catch(() => undefined)
  void listen()

  return {
    unknown: () => unknown,
    newRequest: () => ++count,
    ask,
    /** @param {string} method @param {object} params @param {string} [to] */
    request: (method, params, to) => ask(++count, method, params, to),
    notify: (/** @type {string} */ method, /** @type {object} */ params) =>
      post({ jsonrpc: '2.0', method, params }).catch(() => undefined),
    end() {
      ended = true
      closing.abort()
    },
  }
}
