import { deepStrictEqual, match, ok, strictEqual } from 'node:assert'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createGoogleWorkflowsClients, googleWorkflows } from '@runbridge/google-workflows'
import { startWorkflowsEmulator } from './workflows-emulator.mjs'

/** @typedef {import('../checks.mjs').Checks} Checks */

/** Tells what it was given to a witness, so that a run is seen whatever the answer is. */
const WORKFLOW = `
main:
  params: [args]
  steps:
    - check:
        switch:
          - condition: \${args.who == "nobody"}
            raise: "nobody to greet"
    - tell:
        call: http.post
        args:
          url: \${args.witness}
          body:
            who: \${args.who}
    - done:
        return:
          hello: \${args.who}
`
/** At Google the whole argument is the parameter; here it is the argument's member of that name. */
const argumentOf = (/** @type {string} */ who, /** @type {string} */ witness) => ({ args: { who, witness } })
const WORKFLOW_NAME = 'projects/local/locations/us-central1/workflows/greet'
const RUN = { id: `${WORKFLOW_NAME}/executions/none`, attempt: 0 }

/**
 * The adapter on the REST fallback against an engine that others wrote. It has one call, and answers that with the
 * workflow's result instead of an execution, so what is shown is that the call is right and the answer believed by nobody.
 * @param {Checks} checks
 */
export async function againstWorkflowsEmulator(checks) {
  const witness = await startWitness()
  const emulator = await startWorkflowsEmulator(WORKFLOW)
  const clients = await createGoogleWorkflowsClients({ endpoint: emulator.url, transport: 'rest' })
  const backend = googleWorkflows({ clients })
  const workflow = { id: WORKFLOW_NAME }
  const context = () => ({ signal: AbortSignal.timeout(20_000), owner: 'local' })
  const name = (/** @type {string} */ what) => `workflows-emulator: ${what}`
  const start = (/** @type {string} */ who, /** @type {object} */ more = {}) =>
    backend.start({ ...workflow, ...more }, 'rb-1', argumentOf(who, witness.url), context())
  try {
    await checks.check(name('a start runs the workflow once, with its argument'), async () => {
      await start('Ada')
      deepStrictEqual(witness.heard, [{ who: 'Ada' }])
    })
    await checks.check(name('so does one with a history level, which goes over plain REST'), async () => {
      await start('Bob', { historyLevel: 'detailed' })
      deepStrictEqual(witness.heard.at(-1), { who: 'Bob' })
    })
    await checks.check(
      name('an answer that is no execution is unknown, never started, and not sent again'),
      async () => {
        const { kind } = await start('Eve')
        strictEqual(kind, 'unknown')
        strictEqual(witness.heard.length, 3)
      },
    )
    await checks.check(name('a server error is unknown'), async () => {
      strictEqual((await start('nobody')).kind, 'unknown')
    })
    await checks.check(name('what is not Google’s own NOT_FOUND makes no run absent'), async () => {
      const look = { ...context(), gates: false, progress: true }
      strictEqual((await backend.get(workflow, RUN, look)).kind, 'unreadable')
      strictEqual((await backend.find(workflow, 'rb-1', context())).kind, 'unreadable')
      strictEqual((await backend.cancel(workflow, RUN, '', context())).kind, 'failed')
      const thrown = await backend.describe(workflow, context()).catch((error) => error)
      strictEqual(thrown.code, 'unavailable')
    })
    await lacks(checks, emulator.url, name, witness.url)
  } finally {
    await clients.close()
    await emulator.close()
    await witness.close()
  }
}

/**
 * What it does not have, each tried.
 * @param {Checks} checks @param {string} url @param {(what: string) => string} name @param {string} witness
 */
async function lacks({ known }, url, name, witness) {
  const at = (/** @type {string} */ path, /** @type {RequestInit} */ init = {}) =>
    fetch(`${url}/v1/${path}`, init)
  const created = async () => {
    const argument = JSON.stringify(argumentOf('Ada', witness))
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ argument, labels: { runbridge: 'rb-2' } })
    const response = await at(`${WORKFLOW_NAME}/executions`, { method: 'POST', headers, body })
    return /** @type {any} */ (await response.json())
  }
  const shows = async (/** @type {string} */ path) => {
    const response = await at(path)
    ok(response.ok, String(response.status))
  }
  await known(
    name('a start is answered with an execution'),
    'it answers with the result of the workflow, when that has ended',
    async () => {
      match(String((await created()).name), /\/executions\//)
    },
  )
  await known(
    name('the argument as a whole is the parameter'),
    'it takes the member of the argument that has the name of the parameter',
    async () => {
      const argument = JSON.stringify({ who: 'Ada', witness })
      const headers = { 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify({ argument }) }
      ok((await at(`${WORKFLOW_NAME}/executions`, init)).ok)
    },
  )
  await known(name('executions can be listed by label'), 'there is no list', () =>
    shows(`${WORKFLOW_NAME}/executions`),
  )
  await known(name('an execution can be looked at'), 'there is no get: it runs within the call', () =>
    shows(RUN.id),
  )
  await known(name('an execution can be cancelled'), 'there is no cancel', async () => {
    const { status } = await at(`${RUN.id}:cancel`, { method: 'POST' })
    ok(status !== 404 && status !== 405, String(status))
  })
  await known(name('callbacks can be listed'), 'it has no callbacks, in the language neither', () =>
    shows(`${RUN.id}/callbacks`),
  )
  await known(name('step entries can be listed'), 'it keeps no history', () => shows(`${RUN.id}/stepEntries`))
  await known(name('a workflow can be looked at'), 'it serves one file under every name', () =>
    shows(WORKFLOW_NAME),
  )
  await known(
    name('a failure is told as Google tells it'),
    'it answers 500 without a body of Google',
    async () => {
      const argument = JSON.stringify(argumentOf('nobody', witness))
      const headers = { 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify({ argument }) }
      const response = await at(`${WORKFLOW_NAME}/executions`, init)
      const told = /** @type {any} */ (await response.json())
      strictEqual(told.state, 'FAILED')
    },
  )
  await known(name('gRPC'), 'it speaks REST alone', async () => {
    const clients = await createGoogleWorkflowsClients({ endpoint: url })
    try {
      await clients.reads.get(RUN.id, AbortSignal.timeout(3_000)).catch((failure) => {
        if (failure.status !== 'NOT_FOUND') throw failure
      })
    } finally {
      await clients.close()
    }
  })
}

/** What workflows tell, on loopback. */
async function startWitness() {
  /** @type {unknown[]} */
  const heard = []
  const server = createServer(async (incoming, outgoing) => {
    let body = ''
    for await (const chunk of incoming) body += chunk
    heard.push(JSON.parse(body))
    outgoing.setHeader('content-type', 'application/json')
    outgoing.end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    url: `http://127.0.0.1:${address.port}/`,
    heard,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  }
}
