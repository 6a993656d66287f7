import { setTimeout as pause } from 'node:timers/promises'
import { call } from './call.mjs'
import { createWorld } from './world.mjs'

/** How long the truth may take to show after the last restart, in ms. A bound, not an expectation. */
const PATIENCE_MS = 60_000

/** How long after its answer a server may take to die at its step before it is said to have missed it, in ms. */
const MISSED_MS = 3_000

/** What an execution's end must have become; a status that is not here is no end. */
const ENDS = /** @type {Record<string, string>} */ ({
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  TIMED_OUT: 'timed_out',
  ABORTED: 'cancelled',
})

/**
 * @typedef {object} Verdict
 * @property {number} executions
 * @property {number} duplicate executions beyond the one that was asked for
 * @property {number} lost executions that no task follows, and handles that no longer resolve
 * @property {number} wrong tasks whose end is not the engine's, or that come to none
 * @property {boolean} crashed whether the server died at the step
 * @property {string} detail
 */

/**
 * @param {import('./scenarios.mjs').Scenario} scenario
 * @param {import('./stores.mjs').SharedStore} shared
 * @returns {Promise<Verdict>}
 */
export async function runScenario(scenario, shared) {
  const world = await createWorld(shared)
  try {
    const { engine } = world
    const first = await world.serve(scenario.crash)
    const second = scenario.equal === 'at once' ? await world.serve() : undefined
    const prepared = await prepare(first.url, scenario)
    engine.faults.next('StartExecution', ...(scenario.starts ?? []))
    engine.faults.next('DescribeExecution', ...(scenario.describes ?? []))
    const calling = call(first.url, 'tools/call', prepared)
    const equal = second && call(second.url, 'tools/call', prepared)
    if (scenario.cancelWhileStarting) await wishToCancel(world)
    const answer = await calling
    const crashed = scenario.crash !== undefined && (await first.diesBy(Date.now() + MISSED_MS))
    // By the time a server is up again the engine shows what it has: that is what `visibilityMs` promises.
    if (crashed) engine.faults.clear('DescribeExecution')
    const { url } = scenario.crash ? await world.serve() : first
    const repeats = scenario.confirmed || scenario.equal
    const repeated = repeats ? await call(url, 'tools/call', prepared) : undefined
    const handles = [answer, await equal, repeated].flatMap((response) => response?.result?.taskId ?? [])
    if (scenario.equal) await Promise.all(handles.map((taskId) => call(url, 'tasks/cancel', { taskId })))
    const verdict = await judge(world, url, scenario, handles)
    return {
      crashed,
      ...verdict,
      detail: `${verdict.detail}, answered ${JSON.stringify(answer)?.slice(0, 300)}`,
    }
  } finally {
    await world.close()
  }
}

/** The call that is made, with the answer to its confirmation where there is one. */
async function prepare(
  /** @type {string} */ url,
  /** @type {import('./scenarios.mjs').Scenario} */ scenario,
) {
  const name = scenario.equal
    ? scenario.confirmed
      ? 'confirmed_keyed'
      : 'keyed'
    : scenario.confirmed
      ? 'confirmed'
      : scenario.cancelWhileStarting
        ? 'lasts'
        : (scenario.machine ?? 'succeeds')
  const params = { name, arguments: { order: 7 } }
  if (!scenario.confirmed) return params
  const asked = await call(url, 'tools/call', params)
  if (asked?.result?.resultType !== 'input_required') throw new Error(`not asked: ${JSON.stringify(asked)}`)
  const inputResponses = Object.fromEntries(
    Object.entries(asked.result.inputRequests).map(([key, request]) => [key, accepted(request)]),
  )
  return { ...params, requestState: asked.result.requestState, inputResponses }
}

function accepted(/** @type {any} */ request) {
  const properties = Object.entries(request.params.requestedSchema.properties ?? {})
  return { action: 'accept', content: Object.fromEntries(properties.map(([name]) => [name, true])) }
}

/** Records a wish as another replica does: by the store alone, while the starter is still at it. */
async function wishToCancel(/** @type {Awaited<ReturnType<typeof createWorld>>} */ { store }) {
  for (let look = 0; look < 400; look += 1) {
    const [record] = (await store.list('local', {}, 10)).records
    if (record?.state === 'starting') {
      const cancel = { reason: 'wished while starting', requestedAt: Date.now() }
      if ((await store.update({ ...record, cancel })) === 'updated') return
    }
    await pause(5)
  }
  throw new Error('The start was over before the wish could be recorded.')
}

/**
 * Follows every task to its end and compares with what the engine itself says.
 * @param {Awaited<ReturnType<typeof createWorld>>} world
 * @param {string} url
 * @param {import('./scenarios.mjs').Scenario} scenario
 * @param {string[]} handles
 */
async function judge({ engine, store }, url, scenario, handles) {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const executions = engine.executions()
    const { records } = await store.list('local', {}, 100)
    for (const { taskId } of records) await call(url, 'tasks/get', { taskId })
    const resolved = await Promise.all(handles.map((taskId) => call(url, 'tasks/get', { taskId })))
    const followed = await Promise.all(
      executions.map(({ executionArn }) => store.byRun({ runId: executionArn })),
    )
    const states = Object.fromEntries(executions.map((each) => [each.executionArn, ENDS[each.status]]))

    // Without a crash equal calls get one task; after one, what the dead left unsettled ends before another starts.
    const several = scenario.equal && !scenario.crash ? new Set(handles).size - 1 : 0
    const duplicate = Math.max(0, executions.length - 1, several)
    const lost =
      followed.filter((tasks) => tasks.length === 0).length +
      resolved.filter((response) => !response?.result).length
    const wrong = records.filter(({ run, runKey, state }) => {
      if (run) return states[run.id] !== state
      // Without a run there is one true end: it was never found, because it never was.
      return state !== 'lost' || executions.some(({ name }) => name === runKey)
    }).length
    const cancelled = scenario.cancelWhileStarting
      ? executions.filter(({ status }) => status !== 'ABORTED').length
      : 0
    const verdict = { executions: executions.length, duplicate, lost, wrong: wrong + cancelled }
    if (duplicate + lost + verdict.wrong === 0 || Date.now() > deadline) {
      const detail = JSON.stringify({
        records: records.map(({ state, run, failure, unreadable }) => ({ state, run, failure, unreadable })),
        handles,
        executions: executions.map(({ status }) => status),
      })
      return { ...verdict, detail }
    }
    await pause(100)
  }
}
