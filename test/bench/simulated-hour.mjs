// An hour in which executions go on and clients poll each of them at the interval that they are told: the task
// service, its store in memory and the Step Functions adapter as they are, on a clock that jumps from poll to poll.
import { createTaskService } from '@runbridge/core'
import { QUOTA_ACTIONS, quotasIn, stepFunctions } from '@runbridge/step-functions'
import { memory } from '@runbridge/stores/memory'
import { countingEngine } from './counting-engine.mjs'

const HOUR_MS = 3_600_000

/**
 * @typedef {object} Hour
 * @property {number} runs executions that go on for the whole hour
 * @property {number} clients that poll each of them
 * @property {'one' | 'own'} [tasks] whether the clients of a run poll one task, or each watches the run as a task of its
 *   own. Default `one`
 * @property {boolean} [gates] whether questions are looked for. Default false
 * @property {boolean} [progress] Default true
 * @property {number} [replicas] processes that the polls are spread over. Default 1
 * @property {string} [stateMachineArn] Default: in a large region
 */

/**
 * @typedef {object} HourFigures
 * @property {number} runs
 * @property {number} clients
 * @property {number} polls that clients made
 * @property {number} callsPerRunHour calls of all kinds
 * @property {Record<string, number>} calls by action, of all runs
 * @property {{ action: string, worstSecond: number, perSecond: number, bucket: number }[]} quotas the most calls in any
 *   1,000 ms, and what AWS allows: so many a second, and so many at once
 */

/**
 * @param {Hour} hour
 * @returns {Promise<HourFigures>}
 */
export async function simulateHour(hour) {
  const { runs, clients, tasks = 'one', gates = false, progress = true, replicas = 1 } = hour
  let now = Date.UTC(2026, 6, 28)
  const end = now + HOUR_MS
  const signal = new AbortController().signal
  const clock = { now: () => now, sleep: () => new Promise(() => {}), timeout: () => signal }
  const engine = countingEngine(clock, hour.stateMachineArn)
  const backend = stepFunctions({ clients: engine.clients })
  const workflow = { id: engine.stateMachineArn }
  const { capabilities } = await backend.describe(workflow, { signal })
  const tool = /** @type {import('@runbridge/core').TaskTool} */ (
    /** @type {unknown} */ ({
      name: 'order',
      backend,
      workflow,
      capabilities,
      humanInput: gates ? 'elicitation' : 'off',
      progress,
      retainMs: HOUR_MS,
    })
  )
  const watch = { ...tool, name: 'watch', attach: { cancel: false } }
  const store = memory()
  const services = Array.from({ length: replicas }, () =>
    createTaskService({ store, tools: [tool, watch], clock: /** @type {any} */ (clock), validate: () => [] }),
  )
  const serviceOf = (/** @type {number} */ n) =>
    /** @type {import('@runbridge/core').TaskService} */ (services[n % replicas])

  /** @param {Promise<import('@runbridge/core').CreateOutcome>} creating */
  const taskOf = async (creating) => {
    const outcome = await creating
    if (outcome.kind === 'refused') throw outcome.error
    return outcome.task.record
  }
  const polls = queue()
  for (let run = 0; run < runs; run += 1) {
    const started = await taskOf(
      serviceOf(run).create({ owner: `owner-${run}`, tool: 'order', form: 'ext-tasks', input: { run } }),
    )
    for (let client = 0; client < clients; client += 1) {
      const own = tasks === 'own' && client > 0
      const reference = started.run?.id ?? ''
      const attach = {
        owner: `client-${client}`,
        tool: 'watch',
        form: /** @type {const} */ ('ext-tasks'),
        reference,
      }
      const { owner, taskId } = own ? await taskOf(serviceOf(client).attach(attach)) : started
      // Clients come one after the other, and some of them at the same moment.
      polls.add(now + 1000 + 37 * (client % 50), { key: { owner, taskId }, service: serviceOf(run + client) })
    }
  }

  let made = 0
  for (let next = polls.take(); next && next.at < end; next = polls.take()) {
    now = Math.max(now, next.at)
    const { pollIntervalMs } = await next.value.service.get(next.value.key)
    made += 1
    polls.add(now + pollIntervalMs, next.value)
  }
  return figures(engine, runs, clients, made)
}

/**
 * @param {ReturnType<typeof countingEngine>} engine
 * @param {number} runs
 * @param {number} clients
 * @param {number} polls
 * @returns {HourFigures}
 */
function figures({ calls, stateMachineArn }, runs, clients, polls) {
  const allowed = quotasIn(stateMachineArn.split(':')[3] ?? '')
  /** @type {Record<string, number>} */
  const counts = {}
  for (const { action } of calls) counts[action] = (counts[action] ?? 0) + 1
  const quotas = QUOTA_ACTIONS.filter((action) => counts[action]).map((action) => ({
    action,
    worstSecond: worstSecond(calls.filter((call) => call.action === action).map(({ at }) => at)),
    ...allowed[action],
  }))
  return { runs, clients, polls, callsPerRunHour: calls.length / runs, calls: counts, quotas }
}

/** @param {readonly number[]} times ascending, in ms */
function worstSecond(times) {
  let worst = 0
  for (let first = 0, last = 0; last < times.length; last += 1) {
    while (/** @type {number} */ (times[last]) - /** @type {number} */ (times[first]) >= 1000) first += 1
    worst = Math.max(worst, last - first + 1)
  }
  return worst
}

/**
 * What is due first comes first: a binary heap.
 * @typedef {{ key: import('@runbridge/core').TaskKey, service: import('@runbridge/core').TaskService }} Poll
 */
function queue() {
  /** @type {{ at: number, value: Poll }[]} */
  const heap = []
  const atOf = (/** @type {number} */ index) => heap[index]?.at ?? Number.POSITIVE_INFINITY
  const swap = (/** @type {number} */ a, /** @type {number} */ b) => {
    const kept = /** @type {{ at: number, value: Poll }} */ (heap[a])
    heap[a] = /** @type {{ at: number, value: Poll }} */ (heap[b])
    heap[b] = kept
  }
  return {
    /** @param {number} at @param {Poll} value */
    add(at, value) {
      heap.push({ at, value })
      for (let index = heap.length - 1; index > 0; ) {
        const parent = (index - 1) >> 1
        if (atOf(parent) <= atOf(index)) return
        swap(parent, index)
        index = parent
      }
    },
    take() {
      const first = heap[0]
      const last = heap.pop()
      if (!first || !last || heap.length === 0) return first
      heap[0] = last
      for (let index = 0; ; ) {
        const left = 2 * index + 1
        const smaller = atOf(left) <= atOf(left + 1) ? left : left + 1
        if (atOf(smaller) >= atOf(index)) return first
        swap(smaller, index)
        index = smaller
      }
    },
  }
}
