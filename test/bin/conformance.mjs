// `npm run conformance [-- --json] [-- SCENARIO…]`: the official suite against a real `runbridge serve` whose tools are
// state machines of the embedded engine. Ends with one line of figures; the exit status means it.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startFixtureEngine } from '../fixtures/engine/engine.mjs'
import { root, run } from './command.mjs'
import { judged } from './judge.mjs'
import { node22 } from './node22.mjs'
import {
  GENERAL_SCENARIOS,
  NOT_COUNTED,
  NOT_FOR_US,
  OLDER_NOT_FOR_US,
  OLDER_SCENARIOS,
  TASK_SCENARIOS,
} from './scenarios.mjs'
import { serve } from './serve.mjs'

const REVISION = '2026-07-28'
const OLDER_REVISION = '2025-11-25'
/** Scenarios that run at the same time: most of their time is waiting. */
const AT_ONCE = 4

/** @typedef {import('./judge.mjs').Check} Check */
/** @typedef {import('./judge.mjs').Result} Result */

/** @returns {string} */
function suite() {
  const manifest = createRequire(join(root, 'test/package.json')).resolve(
    '@modelcontextprotocol/conformance/package.json',
  )
  const { version, bin } = JSON.parse(readFileSync(manifest, 'utf8'))
  const pinned = JSON.parse(readFileSync(join(root, 'test/package.json'), 'utf8')).dependencies[
    '@modelcontextprotocol/conformance'
  ]
  if (version !== pinned)
    throw new Error(`The suite is pinned to ${pinned}, but ${version} is installed: run \`npm ci\`.`)
  return join(dirname(manifest), bin.conformance)
}

/**
 * Every scenario that the suite has for this revision must be listed in scenarios.mjs, and none that it has not.
 * @param {string} node
 * @param {string} program
 */
async function assertListed(node, program) {
  const { code, output } = await run(node, [program, 'list', '--server'])
  if (code !== 0) throw new Error(`The suite can't list its scenarios:\n${output}`)
  const all = [...output.matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)]
  const of = (/** @type {RegExp} */ revision) =>
    all.filter(([, , revisions = '']) => revision.test(revisions)).map(([, name = '']) => name)
  const older = (/** @type {string} */ name) => (name.includes('@') ? name : `${name}@${OLDER_REVISION}`)
  const offered = [...of(new RegExp(`extension|${REVISION}`)), ...of(new RegExp(OLDER_REVISION)).map(older)]
  const listed = [
    ...[...TASK_SCENARIOS, ...GENERAL_SCENARIOS, ...Object.keys(NOT_FOR_US)],
    ...[...OLDER_SCENARIOS, ...Object.keys(OLDER_NOT_FOR_US)].map(older),
  ]
  const wrong = [
    ...offered.filter((name) => !listed.includes(name)).map((name) => `${name} is not listed`),
    ...listed.filter((name) => !offered.includes(name)).map((name) => `${name} is not in the suite`),
    ...listed.filter((name, at) => listed.indexOf(name) !== at).map((name) => `${name} is listed twice`),
  ]
  if (wrong.length > 0) throw new Error(`test/bin/scenarios.mjs and the suite differ: ${wrong.join(', ')}.`)
}

/**
 * @param {string} node
 * @param {string} program
 * @param {string} url
 * @param {string} scenario
 * @param {string} folder
 * @returns {Promise<Result>}
 */
async function runScenario(node, program, url, scenario, folder) {
  const [name = '', older] = scenario.split('@')
  const revision = TASK_SCENARIOS.includes(scenario) ? [] : ['--spec-version', older ?? REVISION]
  const output = join(folder, scenario)
  const args = [
    program,
    'server',
    '--url',
    url,
    '--scenario',
    name,
    '-o',
    output,
    '--timeout',
    '60000',
    ...revision,
  ]
  const finished = await run(node, args)
  const file = existsSync(output)
    ? readdirSync(output, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith('checks.json'))
    : undefined
  /** @type {Check[]} */
  const checks = file ? JSON.parse(readFileSync(join(output, file), 'utf8')) : []
  return judged(scenario, checks, finished.output)
}

/** @param {Result} result */
function print({ scenario, passed, failed, skipped, warned, notCounted }) {
  const mark = failed.length > 0 ? 'FAILED ' : skipped.length > 0 ? 'skipped' : 'ok     '
  const warnings = warned.length > 0 ? `, ${warned.length} warned` : ''
  console.log(`${mark} ${scenario.padEnd(46)} ${passed.length} passed${warnings}`)
  for (const { id, errorMessage } of failed) console.log(`          FAILED ${id}: ${errorMessage ?? ''}`)
  for (const { id, errorMessage } of warned) console.log(`          warned ${id}: ${errorMessage ?? ''}`)
  for (const { id } of notCounted) console.log(`          not counted ${id}: ${NOT_COUNTED[scenario]?.[id]}`)
}

async function main() {
  const json = process.argv.includes('--json')
  const asked = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
  const all = [...TASK_SCENARIOS, ...GENERAL_SCENARIOS, ...OLDER_SCENARIOS]
  const unknown = asked.filter((name) => !all.includes(name))
  if (unknown.length > 0)
    throw new Error(`No such scenario here: ${unknown.join(', ')}. There are: ${all.join(', ')}.`)

  const node = await node22()
  const program = suite()
  await assertListed(node, program)

  const folder = mkdtempSync(join(tmpdir(), 'runbridge-conformance-'))
  const engine = await startFixtureEngine()
  /** @type {Result[]} */
  const results = []
  const runAll = async (
    /** @type {readonly string[]} */ names,
    /** @type {(scenario: string) => Promise<Result>} */ runOne,
  ) => {
    const waiting = [...names]
    const worker = async () => {
      for (let scenario = waiting.shift(); scenario !== undefined; scenario = waiting.shift()) {
        const result = await runOne(scenario)
        results.push(result)
        if (!json) print(result)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
  }
  try {
    const server = await serve({
      config: join(root, 'test/fixtures/conformance.yaml'),
      env: {
        RUNBRIDGE_STORE: join(folder, 'tasks.sqlite'),
        RUNBRIDGE_ENDPOINT: engine.url,
        RUNBRIDGE_MACHINES: engine.stateMachineArn('x').slice(0, -2),
      },
    })
    let status
    try {
      await runAll(asked.length > 0 ? asked : all, (scenario) =>
        runScenario(node, program, server.url, scenario, folder),
      )
    } finally {
      status = await server.end()
    }
    if (status !== 0) {
      const tail = server.log().trim().split('\n').slice(-10).join('\n')
      throw new Error(`\`runbridge serve\` ended with status ${status} instead of 0. It printed:\n${tail}`)
    }
  } finally {
    await engine.close()
    rmSync(folder, { recursive: true, force: true })
  }

  const sum = (/** @type {(result: Result) => Check[]} */ of) =>
    results.reduce((total, result) => total + of(result).length, 0)
  const figures = {
    scenarios: results.length,
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed),
    skipped: sum(({ skipped }) => skipped),
  }
  if (json) {
    const byName = (/** @type {Result} */ a, /** @type {Result} */ b) =>
      all.indexOf(a.scenario) - all.indexOf(b.scenario)
    console.log(JSON.stringify({ ...figures, results: results.sort(byName), notForUs: NOT_FOR_US }, null, 2))
  } else {
    console.log(
      `conformance: ${figures.scenarios} scenarios, ${figures.passed} checks passed, ${figures.failed} failed, ${figures.skipped} skipped`,
    )
  }
  process.exitCode = figures.failed === 0 ? 0 : 1
}

try {
  await main()
} catch (error) {
  console.error(`conformance could not run: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
