import { testTitles } from './musts.mjs'

/**
 * The numbered requirements of SEP-1686, sections 3, 4, 7 and 8: items counted within their section. A test holds one by
 * its name, which begins with "SEP-1686 NUMBER". `theirs`: a requirement on the requestor.
 * @type {readonly { number: string, says: string, note?: string, theirs?: true }[]}
 */
const REQUIREMENTS = [
  { number: '3.1', says: 'a request with a task id in its metadata makes a task' },
  { number: '3.2', says: 'tasks/get' },
  { number: '3.3', says: 'tasks/result' },
  { number: '3.4', says: 'notifications/tasks/created as soon as the task can be asked for' },
  {
    number: '3.5',
    says: 'tasks/list',
    note: 'entries have the fields of 2025-11-25 too, and its status words: the method can’t know which form asks',
  },
  { number: '3.6', says: 'tasks/delete' },
  { number: '4.1.1', says: 'without support the metadata is ignored and the request processed normally' },
  { number: '4.1.2', says: 'the receiver chooses which requests can be tasks' },
  { number: '4.2.1', says: 'a task id is a string' },
  { number: '4.2.2', says: 'unique among the tasks of the receiver', note: 'among those of one owner' },
  { number: '4.2.3', says: 'a used id may be refused', note: 'it is, also after a restart' },
  { number: '4.3.1', says: 'a task begins as submitted' },
  { number: '4.3.2', says: 'the paths between statuses; terminal ones are final' },
  { number: '4.3.3', says: 'straight from submitted to completed' },
  { number: '4.3.4', says: 'unknown is a last resort', note: 'only for a start that could not be settled' },
  { number: '4.4.1', says: 'input_required when a request of the task is sent' },
  { number: '4.4.2', says: 'with the related-task metadata' },
  { number: '4.4.3', says: 'out of input_required when all responses are there' },
  { number: '4.4.4', says: 'and not before' },
  { number: '4.5.1', says: 'the receiver may override keepAlive' },
  { number: '4.5.2', says: 'the actual keepAlive in tasks/get' },
  { number: '4.5.3', says: 'an ended task may go after its keepAlive' },
  { number: '4.5.4', says: 'pollFrequency' },
  { number: '4.6.1', says: 'a result only of a completed task' },
  { number: '4.6.2', says: 'an error in any other status' },
  { number: '4.6.3', says: 'as often as the requestor wants' },
  {
    number: '4.7.1',
    says: 'related-task metadata on every message of a task',
    note: 'JSON-RPC errors have no metadata',
  },
  { number: '4.7.2', says: 'an elicitation has the id of its call’s task' },
  {
    number: '4.8.1',
    says: 'notifications/cancelled for the original request cancels the task',
    note: 'cancelled once the engine says so: a run that can’t be stopped, or finished first, keeps its result',
  },
  { number: '4.8.2', says: 'best effort, as soon as possible' },
  { number: '4.8.3', says: 'ignored after the end' },
  { number: '4.8.4', says: 'a cancelled task may go after its keepAlive' },
  {
    number: '4.9.1',
    says: 'pages',
    note: 'over HTTP not without authentication: callers can’t be told apart',
  },
  { number: '4.9.2', says: 'nextCursor whenever there is more' },
  { number: '4.9.3', says: 'cursors are opaque', theirs: true },
  { number: '4.9.4', says: 'whatever tasks/get finds is listed', note: 'with the exception of 4.9.1' },
  { number: '4.10.1', says: 'the receiver decides on a delete' },
  { number: '4.10.2', says: 'a deleted task goes with all that belongs to it' },
  { number: '4.10.3', says: 'deletes may be limited', note: 'to ended tasks' },
  { number: '4.10.4', says: 'sensitive tasks are deleted promptly', theirs: true },
  { number: '7.1.1', says: 'unknown task id: -32602', note: 'an expired task is an unknown one' },
  { number: '7.1.2', says: 'unknown cursor: -32602' },
  { number: '7.1.3', says: 'id in use: -32602' },
  { number: '7.1.4', says: 'no result yet: -32602' },
  { number: '7.1.5', says: 'internal error: -32603' },
  { number: '7.1.6', says: 'errors say why' },
  { number: '7.2.1', says: 'a failed task has an error' },
  { number: '7.2.2', says: 'isError completes its task' },
  {
    number: '8.1.1',
    says: 'bound to session and authentication',
    note: 'to authentication alone: a task outlives its session, so that a client finds it after a restart',
  },
  {
    number: '8.1.2',
    says: 'without any of both the limitation is documented',
    note: 'without authentication all callers are one owner, on loopback or pipes only; ids of a client’s own making can be guessed',
  },
  {
    number: '8.1.3',
    says: 'rates are limited',
    note: 'calls at a time and open tasks of a caller; polls reach the engine once an interval; rates themselves are for what stands in front',
  },
  { number: '8.2.1', says: 'limits on tasks and keepAlive; expired ones are removed' },
  {
    number: '8.2.2',
    says: 'the limits are documented',
    note: 'maxOpenTasks, maxCalls and retainMs in docs/configuration.md',
  },
  { number: '8.3.1', says: 'an audit log', note: 'of calls, answers, cancels and deletes; not of polls' },
  { number: '8.3.2', says: 'requestors log too', theirs: true },
]

const NUMBERS = /^SEP-1686 ([\d.]+(?:, [\d.]+)*):/

/**
 * Each requirement with the places of its tests. Throws for one that no test holds and that needs one, and for a test of
 * a number that is not in the list.
 * @returns {{ number: string, says: string, note: string, places: { file: string, line: number }[] }[]}
 */
export function sep1686Requirements() {
  /** @type {Map<string, { file: string, line: number }[]>} */
  const held = new Map(REQUIREMENTS.map(({ number }) => [number, []]))
  for (const [title, place] of testTitles()) {
    for (const number of NUMBERS.exec(title)?.[1]?.split(', ') ?? []) {
      // "4.4" stands for all of 4.4.
      const meant = [...held.keys()].filter((each) => each === number || each.startsWith(`${number}.`))
      if (meant.length === 0)
        throw new Error(`"${title}" names ${number}, which is no requirement of SEP-1686.`)
      for (const each of meant) held.get(each)?.push(place)
    }
  }
  return REQUIREMENTS.map(({ number, says, note = '', theirs }) => {
    const places = held.get(number) ?? []
    const bySaying = ['8.1.2', '8.2.2'].includes(number)
    if (places.length === 0 && !theirs && !bySaying)
      throw new Error(`No test is named "SEP-1686 ${number}: …"; write one, or say whose requirement it is.`)
    return { number, says, note: theirs ? 'of the requestor' : note, places }
  })
}
