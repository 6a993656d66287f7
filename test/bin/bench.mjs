// `npm run bench [-- --json] [-- PART…]`: what Runbridge costs on this machine, each beside what it stands on, and what an hour of
// executions costs in calls of AWS. Bounded in time and count. Nothing here passes or fails: tests assert counts, and
// docs/performance.md says what each figure means.
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleSize } from '../bench/bundle-size.mjs'
import { coldStart } from '../bench/cold-start.mjs'
import { memoryFigures } from '../bench/memory-figures.mjs'
import { simulateHour } from '../bench/simulated-hour.mjs'
import { startUp } from '../bench/start-up.mjs'
import { taskOnLambda } from '../bench/task-on-lambda.mjs'
import { throughput } from '../bench/throughput.mjs'

const json = process.argv.includes('--json')
const say = (/** @type {string} */ line) => json || console.log(line)

/** @typedef {import('../bench/measure.mjs').Figure[] | import('../bench/measure.mjs').Skipped} Measured */

/** @type {{ part: string, name: string, run: (folder: string) => Promise<Measured> }[]} */
const PARTS = [
  { part: 'requests', name: 'Requests over HTTP', run: throughput },
  { part: 'start', name: 'Start', run: startUp },
  { part: 'cold-start', name: 'Cold start on Lambda', run: coldStart },
  { part: 'task', name: 'A task on Lambda with DynamoDB', run: taskOnLambda },
  { part: 'memory', name: 'Memory', run: memoryFigures },
  { part: 'bundle', name: 'Bundle', run: bundleSize },
]
const CALLS = 'calls'

const asked = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const parts = [...PARTS.map(({ part }) => part), CALLS]
const unknown = asked.filter((part) => !parts.includes(part))
if (unknown.length > 0) {
  console.error(`No such part: ${unknown.join(', ')}. There are: ${parts.join(', ')}.`)
  process.exit(2)
}
const wanted = (/** @type {string} */ part) => asked.length === 0 || asked.includes(part)

const HOURS = [
  { runs: 1, clients: 1 },
  { runs: 1, clients: 100 },
  { runs: 200, clients: 1 },
  { runs: 200, clients: 100 },
  { runs: 200, clients: 1, stateMachineArn: 'arn:aws:states:eu-central-1:123456789012:stateMachine:order' },
]

const folder = mkdtempSync(join(tmpdir(), 'runbridge-bench-'))
/** @type {import('../bench/measure.mjs').Figure[]} */
const figures = []
/** @type {Record<string, string>} */
const skipped = {}
/** @type {Record<string, number>} */
const callsPerRunHour = {}
/** @type {import('../bench/simulated-hour.mjs').HourFigures[]} */
const simulatedHours = []
try {
  for (const { part, name, run } of PARTS) {
    if (!wanted(part)) continue
    say(`${name}:`)
    const measured = await run(folder)
    if ('skipped' in measured) {
      skipped[part] = measured.skipped
      say(`  skipped: ${measured.skipped}`)
      continue
    }
    for (const each of measured) {
      figures.push(each)
      const middle = each.middle ? ` (half of them ${each.middle.join(' to ')})` : ''
      say(`  ${each.name.padEnd(76)} ${String(each.value).padStart(8)} ${each.unit}${middle}`)
    }
  }
  if (wanted(CALLS)) say('An hour of running executions, in calls of AWS:')
  for (const hour of wanted(CALLS) ? HOURS : []) {
    const seen = await simulateHour(hour)
    simulatedHours.push(seen)
    const region = hour.stateMachineArn ? ', in a small region' : ''
    const name = `${counted(hour.runs, 'run')}, ${counted(hour.clients, 'client')} each${region}`
    callsPerRunHour[name] = seen.callsPerRunHour
    figures.push({ name: `calls per run-hour, ${name}`, value: seen.callsPerRunHour, unit: 'calls' })
    say(`  ${name}: ${seen.callsPerRunHour.toFixed(1)} calls per run-hour, ${seen.polls} polls`)
    for (const { action, worstSecond, perSecond } of seen.quotas) {
      const total = seen.calls[action] ?? 0
      say(
        `    ${action.padEnd(22)} ${String(total).padStart(6)}, worst second ${worstSecond} of ${perSecond} a second`,
      )
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

const [cpu] = cpus()
const machine = {
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
  cpu: cpu?.model,
  cpus: cpus().length,
}
if (json) {
  const date = new Date().toISOString().slice(0, 10)
  console.log(JSON.stringify({ date, machine, figures, skipped, callsPerRunHour, simulatedHours }, null, 2))
}
// The last line, and no part of the JSON.
const missing = Object.keys(skipped)
const last = `bench: ${figures.length} figures${missing.length > 0 ? `, skipped: ${missing.join(', ')}` : ''}`
if (json) console.error(last)
else console.log(last)

/** @param {number} count @param {string} what */
function counted(count, what) {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
