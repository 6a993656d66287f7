import { ok } from 'node:assert'
import { startGoogleWorkflowsEmulator } from '@runbridge/emulators/google'
import { createGoogleWorkflowsClients, googleWorkflows } from '@runbridge/google-workflows'
import { discoveryDocument } from './workflows-emulator.mjs'

/** @typedef {import('../checks.mjs').Checks} Checks */
/** @typedef {{ method: string, url: URL, body: any, answer: any, status: number }} Exchange */

/** What Google added since the description was made. */
const NEWER = ['executionHistoryLevel', 'variableData', 'createTime']

const DEPLOY = {
  description: 'Rolls out.',
  labels: { team: 'ops' },
  steps: [
    { step: 'create', createCallback: 'details' },
    { step: 'approve', awaitCallback: 'details', result: 'answer' },
    { step: 'loop', for: 2, steps: [{ step: 'wait', ms: 1 }] },
    { step: 'fail', raise: { code: 7 } },
  ],
}

/**
 * Every REST exchange of the adapter with the stand-in against Google's own description of the two APIs: paths, query
 * parameters, bodies and answers. So the stand-in is held to Google's shapes, and the adapter asks for what is there.
 * @param {Checks} checks
 */
export async function againstDiscovery(checks) {
  const documents = [await discoveryDocument('workflowexecutions'), await discoveryDocument('workflows')]
  const methods = documents.flatMap((document) => methodsOf(document, document))
  const exchanges = await recorded()
  /** @type {Set<string>} */
  const newer = new Set()
  /** @type {Map<string, string[]>} */
  const problems = new Map()
  for (const exchange of exchanges) {
    if (exchange.url.pathname.includes('/callbacks/')) continue
    const method = methods.find(
      ({ httpMethod, path }) => httpMethod === exchange.method && path.test(exchange.url.pathname),
    )
    const id = method?.id ?? `${exchange.method} ${exchange.url.pathname}`
    const found = method ? problemsOf(exchange, method, newer) : ['there is no such method']
    problems.set(id, [...(problems.get(id) ?? []), ...found])
  }
  for (const [id, found] of problems) {
    await checks.check(`Google's description: ${id}`, () =>
      ok(found.length === 0, [...new Set(found)].join('; ')),
    )
  }
  for (const name of newer) {
    checks.skip(
      `Google's description: ${name}`,
      `it is newer than the description (${documents[0].revision})`,
    )
  }
}

/** A run with everything that goes over REST. @returns {Promise<Exchange[]>} */
async function recorded() {
  const emulator = await startGoogleWorkflowsEmulator({ workflows: { deploy: DEPLOY } })
  const clients = await createGoogleWorkflowsClients({ endpoint: emulator.url, transport: 'rest' })
  const backend = googleWorkflows({ clients })
  const gate = { urlVariable: 'details.url', result: 'answer' }
  const workflow = {
    id: emulator.workflowName('deploy'),
    historyLevel: /** @type {const} */ ('detailed'),
    gates: { approve: gate },
  }
  /** @type {Exchange[]} */
  const exchanges = []
  const original = globalThis.fetch
  globalThis.fetch = async (input, init) => {
    const response = await original(input, init)
    exchanges.push({
      method: init?.method ?? 'GET',
      url: new URL(String(input)),
      body: init?.body ? JSON.parse(String(init.body)) : undefined,
      answer: await response.clone().json(),
      status: response.status,
    })
    return response
  }
  const context = { signal: AbortSignal.timeout(20_000), owner: 'local' }
  const look = { ...context, gates: true, progress: true }
  try {
    await backend.describe(workflow, context)
    const where = { project: emulator.project, location: emulator.location, labels: { team: 'ops' } }
    for await (const _ of backend.discover?.(where, context) ?? []);
    const started = await backend.start(workflow, 'rb-1', { version: '1' }, context)
    if (started.kind !== 'started') throw started.error
    for (;;) {
      const result = await backend.get(workflow, started.run, look)
      const [open] = result.kind === 'snapshot' ? result.snapshot.gates : []
      if (!open) continue
      await backend.answer(workflow, started.run, open, { action: 'accept', content: {} }, context)
      break
    }
    await emulator.ended(started.run.id)
    // The client's own calls go through another HTTP library; the same resources are asked for here.
    for (const path of [
      started.run.id,
      `${workflow.id}/executions?view=FULL`,
      `${started.run.id}/stepEntries`,
    ]) {
      await globalThis.fetch(`${emulator.url}/v1/${path}`)
    }
    const sleeping = emulator.execute('deploy')
    await globalThis.fetch(`${emulator.url}/v1/${sleeping}:cancel`, { method: 'POST' })
    return exchanges
  } finally {
    globalThis.fetch = original
    await clients.close()
    await emulator.close()
  }
}

/** @param {any} node @param {any} document @returns {{ id: string, httpMethod: string, path: RegExp, method: any, document: any }[]} */
function methodsOf(node, document) {
  const own = Object.values(node.methods ?? {}).map((/** @type {any} */ method) => ({
    id: method.id,
    httpMethod: method.httpMethod,
    path: new RegExp(`^/${method.flatPath.replace(/\{[^}]+\}/g, '[^/:]+')}$`),
    method,
    document,
  }))
  return [...own, ...Object.values(node.resources ?? {}).flatMap((inner) => methodsOf(inner, document))]
}

/** @param {Exchange} exchange @param {{ method: any, document: any }} described @param {Set<string>} newer */
function problemsOf({ url, body, answer, status }, { method, document }, newer) {
  const known = { ...method.parameters, ...document.parameters }
  const unknown = [...url.searchParams.keys()].filter((name) => !Object.hasOwn(known, name))
  const problems = unknown.map((name) => `there is no query parameter ${name}`)
  const check = (/** @type {any} */ value, /** @type {string} */ schema) =>
    problems.push(...shapeProblems(value, { $ref: schema }, document, schema, newer))
  if (body !== undefined) check(body, method.request?.$ref)
  if (status === 200) check(answer, method.response.$ref)
  return problems
}

/**
 * @param {any} value @param {any} schema @param {any} document @param {string} at @param {Set<string>} newer
 * @returns {string[]}
 */
function shapeProblems(value, schema, document, at, newer) {
  if (schema?.$ref) return shapeProblems(value, document.schemas[schema.$ref], document, at, newer)
  if (!schema) return [`${at}: not described`]
  if (schema.enum && !schema.enum.includes(value)) return [`${at}: ${value} is none of the enum`]
  if (schema.type === 'array') {
    if (!Array.isArray(value)) return [`${at}: not a list`]
    return value.flatMap((item) => shapeProblems(item, schema.items, document, `${at}[]`, newer))
  }
  if (schema.type !== 'object') {
    const expected = schema.type === 'integer' ? 'number' : schema.type
    return typeof value === expected ? [] : [`${at}: ${typeof value} instead of ${expected}`]
  }
  return Object.entries(value).flatMap(([name, member]) => {
    const property = schema.properties?.[name] ?? schema.additionalProperties
    if (property) return shapeProblems(member, property, document, `${at}.${name}`, newer)
    if (!NEWER.includes(name)) return [`${at}.${name}: not described`]
    newer.add(`${at}.${name}`)
    return []
  })
}
