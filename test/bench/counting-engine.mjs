// Step Functions in memory for the simulated hour: executions that go on all the time and enter a state every few
// minutes, behind the clients that the adapter takes; every call is counted with its time.

/** How long an execution stays in each of its states, in ms. */
const STATE_MS = 300_000
const MACHINE = 'arn:aws:states:us-east-1:123456789012:stateMachine:order'

/**
 * @typedef {{ action: string, at: number }} Call
 * @typedef {{ id: number, previousEventId: number, type: string, timestamp: Date, [details: string]: unknown }} HistoryEvent
 */

/**
 * @param {{ now(): number }} clock
 * @param {string} [stateMachineArn] whose region's quotas count
 */
export function countingEngine(clock, stateMachineArn = MACHINE) {
  /** @type {Call[]} */
  const calls = []
  /** @type {Map<string, number>} */
  const started = new Map()
  const missing = () => Object.assign(new Error('no such execution'), { name: 'ExecutionDoesNotExist' })

  /** @type {Record<string, (input: any) => object>} */
  const answers = {
    DescribeStateMachine: () => ({ name: 'order', type: 'STANDARD', status: 'ACTIVE' }),
    StartExecution({ name }) {
      const executionArn = `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`
      if (!started.has(executionArn)) started.set(executionArn, clock.now())
      return { executionArn }
    },
    DescribeExecution({ executionArn }) {
      const at = started.get(executionArn)
      if (at === undefined) throw missing()
      return { executionArn, stateMachineArn, status: 'RUNNING', startDate: new Date(at), redriveCount: 0 }
    },
    GetExecutionHistory({ executionArn, maxResults, nextToken }) {
      const at = started.get(executionArn)
      if (at === undefined) throw missing()
      const newest = history(at, clock.now()).reverse()
      const from = Number(nextToken ?? 0)
      const more = from + maxResults < newest.length
      return {
        events: newest.slice(from, from + maxResults),
        ...(more && { nextToken: String(from + maxResults) }),
      }
    },
    StopExecution: () => ({ stopDate: new Date(clock.now()) }),
  }

  const client = {
    /** @param {{ constructor: { name: string }, input: object }} command */
    async send(command) {
      const action = command.constructor.name.replace(/Command$/, '')
      calls.push({ action, at: clock.now() })
      const answer = answers[action]
      if (!answer) throw new Error(`The simulated hour does not know ${action}.`)
      return answer(command.input)
    },
  }
  const sent = /** @type {import('@runbridge/step-functions').StepFunctionsClient} */ (
    /** @type {unknown} */ (client)
  )
  return {
    stateMachineArn,
    calls,
    clients: { reads: sent, writes: sent, starts: sent, sync: sent, region: stateMachineArn.split(':')[3] },
  }
}

/**
 * @param {number} startedAt
 * @param {number} now
 * @returns {HistoryEvent[]} oldest first
 */
function history(startedAt, now) {
  /** @type {HistoryEvent[]} */
  const events = [{ id: 1, previousEventId: 0, type: 'ExecutionStarted', timestamp: new Date(startedAt) }]
  const add = (/** @type {number} */ at, /** @type {HistoryEvent['type']} */ type, details = {}) => {
    const id = events.length + 1
    events.push({ id, previousEventId: id - 1, type, timestamp: new Date(at), ...details })
  }
  for (let n = 0; startedAt + n * STATE_MS <= now; n += 1) {
    const at = startedAt + n * STATE_MS
    if (n > 0) {
      add(at, 'TaskSucceeded')
      add(at, 'TaskStateExited', { stateExitedEventDetails: { name: `Step ${n - 1}` } })
    }
    add(at, 'TaskStateEntered', { stateEnteredEventDetails: { name: `Step ${n}` } })
    add(at, 'TaskScheduled', { taskScheduledEventDetails: { resource: 'invoke', resourceType: 'lambda' } })
    add(at, 'TaskStarted')
  }
  return events
}
