import { testTitles } from './musts.mjs'

const THEIRS = 'of the requestor'

/**
 * The requirements of SEP-1686, sections 3, 4, 7 and 8, by section, numbered from 1 within it: what is required, and a note.
 * A test holds one by its name, which begins with "SEP-1686 NUMBER". Those that are `THEIRS` need none.
 * @type {Readonly<Record<string, readonly (readonly [says: string, note?: string])[]>>}
 */
const SECTIONS = {
  3: [
    ['a request with a task id in its metadata makes a task'],
    ['tasks/get'],
    ['tasks/result'],
    ['notifications/tasks/created as soon as the task can be asked for'],
    [
      'tasks/list',
      'entries have the fields of 2025-11-25 too, and its status words: the method can’t know which form asks',
    ],
    ['tasks/delete'],
  ],
  4.1: [
    ['without support the metadata is ignored and the request processed normally'],
    ['the receiver chooses which requests can be tasks'],
  ],
  4.2: [
    ['a task id is a string'],
    ['unique among the tasks of the receiver', 'among those of one owner'],
    ['a used id may be refused', 'it is, also after a restart'],
  ],
  4.3: [
    ['a task begins as submitted'],
    ['the paths between statuses; terminal ones are final'],
    ['straight from submitted to completed'],
    ['unknown is a last resort', 'only for a start that could not be settled'],
  ],
  4.4: [
    ['input_required when a request of the task is sent'],
    ['with the related-task metadata'],
    ['out of input_required when all responses are there'],
    ['and not before'],
  ],
  4.5: [
    ['the receiver may override keepAlive'],
    ['the actual keepAlive in tasks/get'],
    ['an ended task may go after its keepAlive'],
    ['pollFrequency'],
  ],
  4.6: [
    ['a result only of a completed task'],
    ['an error in any other status'],
    ['as often as the requestor wants'],
  ],
  4.7: [
    ['related-task metadata on every message of a task', 'JSON-RPC errors have no metadata'],
    ['an elicitation has the id of its call’s task'],
  ],
  4.8: [
    [
      'notifications/cancelled for the original request cancels the task',
      'cancelled once the engine says so: a run that can’t be stopped, or finished first, keeps its result',
    ],
    ['best effort, as soon as possible'],
    ['ignored after the end'],
    ['a cancelled task may go after its keepAlive'],
  ],
  4.9: [
    ['pages', 'over HTTP not without authentication: callers can’t be told apart'],
    ['nextCursor whenever there is more'],
    ['cursors are opaque', THEIRS],
    ['whatever tasks/get finds is listed', 'with the exception of 4.9.1'],
  ],
  '4.10': [
    ['the receiver decides on a delete'],
    ['a deleted task goes with all that belongs to it'],
    ['deletes may be limited', 'to ended tasks'],
    ['sensitive tasks are deleted promptly', THEIRS],
  ],
  7.1: [
    ['unknown task id: -32602', 'an expired task is an unknown one'],
    ['unknown cursor: -32602'],
    ['id in use: -32602'],
    ['no result yet: -32602'],
    ['internal error: -32603'],
    ['errors say why'],
  ],
  7.2: [['a failed task has an error'], ['isError completes its task']],
  8.1: [
    [
      'bound to session and authentication',
      'to authentication alone: a task outlives its session, so that a client finds it after a restart',
    ],
    [
      'without any of both the limitation is documented',
      'without authentication all callers are one owner, on loopback or pipes only; ids of a client’s own making can be guessed',
    ],
    [
      'rates are limited',
      'calls at a time and open tasks of a caller; polls reach the engine once an interval; rates themselves are for what stands in front',
    ],
  ],
  8.2: [
    ['limits on tasks and keepAlive; expired ones are removed'],
    ['the limits are documented', 'maxOpenTasks, maxCalls and retainMs in docs/configuration.md'],
  ],
  8.3: [
    ['an audit log', 'of calls, answers, cancels and deletes; not of polls'],
    ['requestors log too', THEIRS],
  ],
}

const REQUIREMENTS = Object.entries(SECTIONS).flatMap(([section, items]) =>
  items.map(([says, note = ''], index) => ({ number: `${section}.${index + 1}`, says, note })),
)

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
  return REQUIREMENTS.map(({ number, says, note }) => {
    const places = held.get(number) ?? []
    const bySaying = ['8.1.2', '8.2.2'].includes(number)
    if (places.length === 0 && note !== THEIRS && !bySaying)
      throw new Error(`No test is named "SEP-1686 ${number}: …"; write one, or say whose requirement it is.`)
    return { number, says, note, places }
  })
}
