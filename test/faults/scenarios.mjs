// What is done to a start, and at which of its steps the server dies. Together they cover every await between the
// record and the handle (`CREATE_STEPS` of core, checked in faults.mjs).

/**
 * @typedef {import('@runbridge/emulators/step-functions').Fault} Fault
 * @typedef {object} Scenario
 * @property {string} name
 * @property {Fault[]} [starts] faults for the next calls of StartExecution, one a call
 * @property {Fault[]} [describes] faults for the next calls of DescribeExecution
 * @property {{ step: string, nth: number }} [crash]
 * @property {boolean} [cancelWhileStarting] another process wishes to cancel while the start is under way
 * @property {boolean} [confirmed] the call is confirmed first, and its retry is sent again after the crash
 * @property {'at once' | 'later'} [equal] an equal call of a tool with an idempotency key: in another process at the
 *   same time and once more, or only after the first was answered
 * @property {'fails'} [machine] the state machine that fails on purpose, instead of the one that succeeds
 */

/** @type {Fault} */
const lost = { kind: 'dropAfterExecuting' }
/** @type {Fault} */
const unreached = { kind: 'dropBeforeExecuting' }
/** @type {Fault} */
const throttled = { kind: 'error', type: 'ThrottlingException', status: 400 }
/** @type {Fault} */
const denied = { kind: 'denied' }
/** @type {Fault} */
const unavailable = { kind: 'status', status: 503 }
/** @type {Fault} */
const hidden = { kind: 'hide', times: 2 }
/** @type {Fault} The answer comes after the attempt was given up, though the start has had its effect. */
const late = { kind: 'hang', afterExecuting: true }

const at = (/** @type {string} */ step, nth = 1) => ({ step, nth })
const PLAIN = [
  'record.creating',
  'record.created',
  'start.sending',
  'start.answered',
  'reference.setting',
  'reference.set',
  'handle.leaving',
]

const KEYED = ['record.created', 'name.claiming', 'name.claimed', ...PLAIN.slice(2)]
const LATER = /** @type {const} */ ('later')
const AT_ONCE = /** @type {const} */ ('at once')

/** @type {Scenario[]} */
export const SCENARIOS = [
  { name: 'no fault' },
  { name: 'no fault, a run that fails', machine: 'fails' },
  ...PLAIN.map((step) => ({ name: 'a plain start', crash: at(step) })),

  { name: 'the answer is lost', starts: [lost] },
  ...[
    'start.answered',
    'find.sending',
    'find.answered',
    'reference.setting',
    'reference.set',
    'handle.leaving',
  ].map((step) => ({
    name: 'the answer is lost',
    starts: [lost],
    crash: at(step),
  })),
  { name: 'the answer is lost and the run is not shown at once', starts: [lost], describes: [hidden] },
  {
    name: 'the answer is lost and the run is not shown at once',
    starts: [lost],
    describes: [hidden],
    crash: at('start.sending', 2),
  },
  {
    name: 'the answer is lost and the run is not shown at once',
    starts: [lost],
    describes: [hidden],
    crash: at('start.answered', 2),
  },
  { name: 'the start does not arrive', starts: [unreached, unavailable] },
  { name: 'the start does not arrive', starts: [unreached], crash: at('find.answered') },
  { name: 'the start does not arrive', starts: [unreached], crash: at('start.sending', 2) },

  {
    name: 'the first attempt is unknown, the second refused',
    starts: [lost, throttled, denied],
    describes: [hidden],
  },
  {
    name: 'the first attempt is unknown, the second refused',
    starts: [lost, throttled],
    describes: [hidden],
    crash: at('start.answered', 2),
  },
  { name: 'the start is refused', starts: [denied] },
  { name: 'the start is refused', starts: [denied], crash: at('start.answered') },

  {
    name: 'the starter outlives its deadline',
    starts: [late, late, late, late],
    describes: Array(40).fill(unavailable),
  },
  {
    name: 'the starter outlives its deadline',
    starts: [late, late, late, late],
    describes: Array(40).fill(unavailable),
    crash: at('handle.leaving'),
  },
  {
    name: 'the starter outlives its deadline',
    starts: [late, late, late, late],
    describes: Array(40).fill(unavailable),
    crash: at('find.answered', 2),
  },

  {
    name: 'a cancel is wished during the start',
    cancelWhileStarting: true,
    starts: [{ kind: 'delayMs', ms: 300 }],
  },
  ...[
    'start.answered',
    'reference.setting',
    'reference.set',
    'wish.sending',
    'wish.sent',
    'handle.leaving',
  ].map((step) => ({
    name: 'a cancel is wished during the start',
    cancelWhileStarting: true,
    starts: /** @type {Fault[]} */ ([{ kind: 'delayMs', ms: 300 }]),
    crash: at(step),
  })),

  { name: 'an equal call comes later', equal: 'later' },
  ...KEYED.map((step) => ({ name: 'an equal call comes later', equal: LATER, crash: at(step) })),
  { name: 'an equal call comes at once', equal: 'at once' },
  // Either of them may win the name, so only the steps to that are both's.
  ...KEYED.slice(0, 3).map((step) => ({
    name: 'an equal call comes at once',
    equal: AT_ONCE,
    crash: at(step),
  })),
  { name: 'an equal call comes at once, and the answer is lost', equal: 'at once', starts: [lost, lost] },
  { name: 'an equal call is confirmed, and sent again', equal: 'later', confirmed: true },
  ...['name.claiming', 'name.claimed', 'start.answered', 'handle.leaving'].map((step) => ({
    name: 'an equal call is confirmed, and sent again',
    equal: LATER,
    confirmed: true,
    crash: at(step),
  })),

  { name: 'a confirmed call is sent again', confirmed: true },
  ...PLAIN.map((step) => ({ name: 'a confirmed call is sent again', confirmed: true, crash: at(step) })),
]
