// The first invocation of a sandbox under AWS's own runtime client, which on Lambda waits for all of it: the handler as
// the CDK bundles it beside a bare one on the same SDKs, bundled alike, with the embedded engine and dynalite behind
// both. Interleaved, so that a busy machine is slow for all of them.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { startStepFunctionsEmulator } from '@runbridge/emulators/step-functions'
import { createToken } from '@runbridge/server'
import { build } from 'esbuild'
import { compileConfig } from 'runbridge'
import { root } from '../bin/command.mjs'
import { mcpRequest } from '../bin/mcp-request.mjs'
import { runtimeClient } from '../interop/lambda/runtime-client.mjs'
import { startSandbox } from '../interop/lambda/sandbox.mjs'
import { startTable } from '../interop/lambda/table.mjs'
import { figure, median, middle } from './measure.mjs'

const TIMES = 15
const TABLE = 'tasks'
const REGION = 'us-east-1'
const HANDLERS = /** @type {const} */ ({
  ours: { name: 'the handler', entry: 'infra/lambda/handler.ts' },
  bare: { name: 'a bare handler on the SDKs', entry: 'test/bench/lambda/bare.mjs' },
  empty: { name: 'an empty handler', entry: 'test/bench/lambda/empty.mjs' },
})
/** @typedef {keyof typeof HANDLERS} Kind */
/** @typedef {{ initMs: number, firstMs: number, rssBytes: number | undefined }} Start */

/**
 * @param {string} folder for files
 * @returns {Promise<import('./measure.mjs').Figure[] | import('./measure.mjs').Skipped>}
 */
export async function coldStart(folder) {
  /** @type {string[]} */
  const said = []
  const program = await runtimeClient((line) => said.push(line.trim())).catch(
    (/** @type {Error} */ error) => {
      said.push(error.message)
    },
  )
  if (program === undefined) return { skipped: said.join(' ') }

  const engine = await startStepFunctionsEmulator({
    region: REGION,
    stateMachines: { order: { StartAt: 'Done', States: { Done: { Type: 'Pass', End: true } } } },
  })
  const table = await startTable({ name: TABLE, region: REGION })
  try {
    const stateMachineArn = engine.stateMachineArn('order')
    const { token, sha256 } = createToken()
    const bundles = await bundled(folder, configOf({ stateMachineArn, sha256 }))
    const env = {
      RUNBRIDGE_TABLE: TABLE,
      DYNAMODB_ENDPOINT: table.endpoint,
      STEP_FUNCTIONS_ENDPOINT: engine.url,
      STATE_MACHINE: stateMachineArn,
    }
    /** @type {Record<Kind, Start[]>} */
    const seen = { ours: [], bare: [], empty: [] }
    for (let time = 0; time <= TIMES; time += 1) {
      for (const kind of kinds()) {
        const start = await startOnce({ program, folder: bundles[kind].folder, env }, callOf(token))
        // The first of all reads files that nobody has read before.
        if (time > 0) seen[kind].push(start)
      }
    }
    return figuresOf(seen, bundles)
  } finally {
    await table.close()
    await engine.close()
  }
}

/** @returns {Kind[]} */
const kinds = () => /** @type {Kind[]} */ (Object.keys(HANDLERS))

/** @param {{ stateMachineArn: string, sha256: string }} caller */
function configOf({ stateMachineArn, sha256 }) {
  return {
    server: {
      auth: { resourceUrl: '$' + '{RUNBRIDGE_ADDRESS}/mcp', tokens: [{ name: 'bench', sha256 }] },
    },
    store: {
      dynamodb: {
        table: '$' + '{RUNBRIDGE_TABLE}',
        region: '$' + '{AWS_REGION}',
        endpoint: '$' + '{DYNAMODB_ENDPOINT}',
      },
    },
    engines: { stepFunctions: { endpoint: '$' + '{STEP_FUNCTIONS_ENDPOINT}' } },
    tools: [{ name: 'order', description: 'For benchmarks.', stepFunctions: { stateMachineArn } }],
  }
}

/**
 * Each handler in a folder of its own, as in the function's archive.
 * @param {string} folder @param {object} config
 */
async function bundled(folder, config) {
  const options = await optionsOfInfra()
  const made = await Promise.all(
    kinds().map(async (kind) => {
      const own = join(folder, `lambda-${kind}`)
      mkdirSync(own)
      writeFileSync(join(own, 'runbridge.json'), JSON.stringify(compileConfig(JSON.stringify(config))))
      const outfile = join(own, 'index.mjs')
      await build({ ...options(join(root, HANDLERS[kind].entry)), outfile })
      return /** @type {const} */ ([kind, { folder: own, bytes: readFileSync(outfile).length }])
    }),
  )
  return /** @type {Record<Kind, { folder: string, bytes: number }>} */ (Object.fromEntries(made))
}

/** @returns {Promise<(entry: string) => import('esbuild').BuildOptions>} those of the CDK's bundles, from their source */
async function optionsOfInfra() {
  const source = join(root, 'infra/src/bundling.ts')
  const { outputFiles } = await build({
    entryPoints: [source],
    format: 'esm',
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(source).href) },
    write: false,
  })
  const { esbuildOptions } = await import(
    `data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`
  )
  return esbuildOptions
}

/**
 * One sandbox with an event that waits for it, as whoever called is waiting.
 * @param {Parameters<typeof startSandbox>[0]} options @param {object} event
 * @returns {Promise<Start>}
 */
async function startOnce(options, event) {
  const sandbox = await startSandbox(options)
  try {
    const { statusCode, body } = await sandbox.invoke(event)
    const firstMs = sandbox.ageMs()
    if (statusCode !== 200 || body?.includes('"isError":true') || body?.includes('"error":'))
      throw new Error(`${options.folder} did not answer: ${statusCode} ${body}\n${sandbox.log()}`)
    while (!sandbox.frozen()) await pause(5)
    return { initMs: sandbox.initMs() ?? Number.NaN, firstMs, rssBytes: sandbox.rssBytes() }
  } finally {
    await sandbox.close()
  }
}

/** A client without tasks starts a run, as a Function URL hands it over. @param {string} token */
function callOf(token) {
  const domainName = 'abcdefghijklmnopqrstuvwxyz012345.lambda-url.us-east-1.on.aws'
  const { headers, body } = mcpRequest('tools/call', { name: 'order', arguments: { a: 1 } })
  return {
    version: '2.0',
    rawPath: '/mcp',
    headers: { host: domainName, authorization: `Bearer ${token}`, ...headers },
    body,
    requestContext: { domainName, http: { method: 'POST' } },
  }
}

/** @param {Record<Kind, Start[]>} seen @param {Record<Kind, { bytes: number }>} bundles */
function figuresOf(seen, bundles) {
  const figures = kinds().flatMap((kind) => {
    const { name } = HANDLERS[kind]
    const starts = seen[kind]
    const rss = starts.flatMap(({ rssBytes }) => rssBytes ?? [])
    const times = [
      { what: 'until it asks for an event', values: starts.map(({ initMs }) => initMs) },
      { what: 'until its first answer', values: starts.map(({ firstMs }) => firstMs) },
    ]
    return [
      ...times.map(({ what, values }) => figure(`${name}: ${what}`, median(values), 'ms', middle(values))),
      ...(rss.length > 0 ? [figure(`${name}: memory after it`, median(rss) / 1e6, 'MB')] : []),
      figure(`${name}: minified`, bundles[kind].bytes / 1000, 'kB'),
    ]
  })
  const ratios = (/** @type {'initMs' | 'firstMs'} */ what) =>
    seen.ours.map((ours, time) => ours[what] / (seen.bare[time]?.[what] ?? Number.NaN))
  const times = [
    { what: 'until it asks for an event', values: ratios('initMs') },
    { what: 'until its first answer', values: ratios('firstMs') },
  ]
  return [
    ...figures,
    ...times.map(({ what, values }) =>
      figure(`the handler of the bare one: ${what}`, median(values), 'times', middle(values)),
    ),
  ]
}
