import { expect, it } from 'vitest'
import { type Hour, simulateHour } from './simulated-hour.mjs'

const SMALL = 'arn:aws:states:eu-central-1:123456789012:stateMachine:order'
/** What looks count against; starts are their callers'. */
const READS = ['DescribeExecution', 'GetExecutionHistory', 'DescribeMapRun', 'DescribeStateMachine']

/** Calls an hour, as far as a look is one call, by the number of runs. */
const MOST = 90

it.each<[string, Hour]>([
  ['one run, one client', { runs: 1, clients: 1 }],
  ['one run, one client, with questions', { runs: 1, clients: 1, gates: true }],
  ['one run, one client, without progress', { runs: 1, clients: 1, progress: false }],
  ['one run, 100 clients', { runs: 1, clients: 100 }],
  ['one run, 100 clients with a task each', { runs: 1, clients: 100, tasks: 'own' }],
  ['one run, 100 clients, three processes', { runs: 1, clients: 100, replicas: 3 }],
  ['200 runs, one client each', { runs: 200, clients: 1 }],
  ['200 runs, one client each, in a small region', { runs: 200, clients: 1, stateMachineArn: SMALL }],
])('an hour of %s stays within its calls and half of the quotas', async (_, hour) => {
  const { callsPerRunHour, quotas, polls } = await simulateHour(hour)
  expect(callsPerRunHour).toBeLessThanOrEqual(MOST)
  // Nobody is left without news for longer than the interval of an old run, give or take a wait for its turn.
  expect(callsPerRunHour).toBeGreaterThanOrEqual(55)
  expect(polls).toBeGreaterThanOrEqual(hour.runs * hour.clients * 55)
  for (const { action, worstSecond, perSecond } of quotas.filter((quota) => READS.includes(quota.action))) {
    expect(worstSecond, action).toBeLessThanOrEqual(perSecond / 2)
  }
})

it('costs the same however many clients poll', async () => {
  const [one, many, own] = await Promise.all([
    simulateHour({ runs: 1, clients: 1 }),
    simulateHour({ runs: 1, clients: 100 }),
    simulateHour({ runs: 1, clients: 100, tasks: 'own' }),
  ])
  expect(many.calls).toEqual(one.calls)
  expect(own.calls).toEqual(one.calls)
})

it('gives far more runs than the quota has room for their turn, and no more calls', async () => {
  const { calls, quotas } = await simulateHour({ runs: 1500, clients: 1, stateMachineArn: SMALL })
  // 1500 runs at 0.9 of 5 looks a second are one look in 333 s.
  expect(calls.GetExecutionHistory).toBeLessThanOrEqual(5 * 3600)
  expect(calls.GetExecutionHistory).toBeGreaterThanOrEqual(0.8 * 4.5 * 3600)
  for (const { worstSecond, perSecond } of quotas.filter((quota) => READS.includes(quota.action))) {
    expect(worstSecond).toBeLessThanOrEqual(perSecond / 2)
  }
})
