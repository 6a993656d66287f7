// `npm run faults -- replicas [--tasks=N] [--seed=N]`: four processes on one PostgreSQL, killed, cut off and with wrong
// clocks, under clients of every kind. `npm run faults [-- --store=postgres] [-- --json] [-- NAME…]`: kills a real server process at every await between the record of a task and
// its handle, with and without faults of the engine, and compares what is left with what the engine did.
// Ends with one line of figures; the exit status means it.
import { randomInt } from 'node:crypto'
import { CREATE_STEPS } from '@runbridge/core'
import { replicas } from '../faults/replicas/run.mjs'
import { runScenario } from '../faults/run-scenario.mjs'
import { SCENARIOS } from '../faults/scenarios.mjs'
import { STORES } from '../faults/stores.mjs'

/** Most of a scenario's time is waiting. */
const AT_ONCE = 5

const json = process.argv.includes('--json')
const asked = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const option = (/** @type {string} */ name) =>
  process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3)
if (asked[0] === 'replicas') {
  const seed = Number(option('seed') ?? randomInt(2 ** 32))
  const holds = await replicas({ tasks: Number(option('tasks') ?? 1_000), seed, json })
  process.exit(holds ? 0 : 1)
}
const chosen = SCENARIOS.filter(({ name }) => asked.length === 0 || asked.some((word) => name.includes(word)))

/** @param {import('../faults/scenarios.mjs').Scenario} scenario */
const title = ({ name, crash }) =>
  crash ? `${name}, killed at ${crash.step}${crash.nth > 1 ? ` (${crash.nth})` : ''}` : name

const storeName = option('store') ?? 'sqlite'
const openStores = STORES[storeName]
if (!openStores) throw new Error(`--store=${storeName}: name one of ${Object.keys(STORES).join(', ')}.`)
const stores = await openStores()

const queue = [...chosen]
/** @type {(Awaited<ReturnType<typeof runScenario>> & { title: string })[]} */
const results = []
let failures = 0

async function worker() {
  for (let scenario = queue.shift(); scenario; scenario = queue.shift()) {
    const verdict = await runScenario(scenario, stores.next())
    const bad = verdict.duplicate + verdict.lost + verdict.wrong > 0
    const missed = scenario.crash !== undefined && !verdict.crashed
    if (bad || missed) failures += 1
    results.push({ title: title(scenario), ...verdict })
    if (json) continue
    console.log(`${bad || missed ? 'FAILED' : 'ok    '} ${title(scenario)}: ${verdict.executions} executed`)
    if (missed) console.log(`       the server never came to that step: ${verdict.detail}`)
    if (bad) console.log(`       ${verdict.detail}`)
  }
}
try {
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
} finally {
  await stores.close()
}

const covered = new Set(chosen.flatMap(({ crash }) => crash?.step ?? []))
const uncovered = asked.length > 0 ? [] : CREATE_STEPS.filter((step) => !covered.has(step))
if (uncovered.length > 0) {
  failures += 1
  console.error(`No scenario kills the server at ${uncovered.join(', ')}.`)
}
const sum = (/** @type {'duplicate' | 'lost' | 'wrong'} */ figure) =>
  results.reduce((total, result) => total + result[figure], 0)
const figures = {
  crashPoints: results.filter(({ crashed }) => crashed).length,
  duplicate: sum('duplicate'),
  lost: sum('lost'),
  wrong: sum('wrong'),
}
if (json) console.log(JSON.stringify({ ...figures, scenarios: results }, null, 2))
const { crashPoints, duplicate, lost, wrong } = figures
console.log(
  `faults${storeName === 'sqlite' ? '' : ` ${storeName}`}: ${crashPoints} crash points, ${duplicate} duplicate, ${lost} lost, ${wrong} wrong`,
)
process.exitCode = failures > 0 ? 1 : 0
