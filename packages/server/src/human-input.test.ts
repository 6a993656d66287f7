import { afterEach, describe, expect, it } from 'vitest'
import { httpLegacy, stdioLegacy } from './testing/legacy-client.js'
import { send, sendLegacy } from './testing/raw-client.js'
import { until, type World, world } from './testing/world.js'

let w: World
const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const SETTINGS = {
  off: { humanInput: 'off' },
  'elicitation, refuse': { humanInput: 'elicitation', unanswerable: 'refuse' },
  'elicitation, show': { humanInput: 'elicitation', unanswerable: 'show' },
  model: { humanInput: 'model' },
} as const
type Setting = keyof typeof SETTINGS

/**
 * What a caller sees when a gate opens. `unseen`: nothing, since gates are not looked for. `asked`: the question.
 * `told`: who has to answer, and where. `shown`: the question in words, with the way to answer it. `refused`: nothing has
 * started.
 */
type Seen = 'unseen' | 'asked' | 'told' | 'shown' | 'refused'

/** By setting: a caller that can be asked, one with tasks that can't, and one without tasks that can't. */
const EXPECTED: Readonly<Record<Setting, Readonly<Record<'elicits' | 'task' | 'plain', Seen>>>> = {
  off: { elicits: 'unseen', task: 'unseen', plain: 'unseen' },
  'elicitation, refuse': { elicits: 'asked', task: 'refused', plain: 'refused' },
  'elicitation, show': { elicits: 'asked', task: 'told', plain: 'told' },
  model: { elicits: 'asked', task: 'told', plain: 'shown' },
}

const CALL = { name: 'deploy', arguments: {} }
const ELICITS = { elicitation: {} }

// biome-ignore lint/suspicious/noExplicitAny: whatever came over the wire
type Any = any

/** What the words of an answer say. */
function inWords(text: string): Seen {
  if (/did not declare elicitation/.test(text)) return 'refused'
  if (/Open question/.test(text)) return 'shown'
  return /somebody has to answer/.test(text) ? 'told' : 'unseen'
}

const ofStatus = ({ status, statusMessage = '' }: Any): Seen =>
  status === 'input_required' ? 'asked' : inWords(statusMessage)

async function openGate(): Promise<void> {
  const run = await w.run()
  await until(async () => (await w.store.list('local', {}, 10)).records[0]?.run !== undefined)
  await w.set(run, () => w.backend.openGate(run.runKey, { id: 'a' }))
}

/** The answer of a call that is held, once a gate has opened and the time of the hold has passed. */
async function held<T>(answering: Promise<T>): Promise<T> {
  let over = false
  void answering.finally(() => {
    over = true
  })
  await until(() => over || w.backend.executions.length > 0)
  if (!over) await openGate()
  await until(async () => {
    if (!over) await w.clock.advance(5_000)
    return over
  })
  return answering
}

const textOf = (result: Any): string => result.content.map((part: { text: string }) => part.text).join('\n')

/** A session's plain call is asked on its own stream, or answered in words. */
async function plainInSession(client: Awaited<ReturnType<typeof httpLegacy>>): Promise<Seen> {
  const answering = held(client.ask('tools/call', CALL)).then(({ result }) => inWords(textOf(result)))
  const asked = client.found(({ method }) => method === 'elicitation/create').then(() => 'asked' as const)
  return Promise.race([answering, asked])
}

async function taskInSession(client: Awaited<ReturnType<typeof httpLegacy>>): Promise<Seen> {
  const { result, error } = await client.ask('tools/call', { ...CALL, task: {} })
  if (error) return inWords(error.message)
  await openGate()
  return ofStatus((await client.ask('tasks/get', { taskId: result.task.taskId })).result)
}

async function underId(client: Awaited<ReturnType<typeof httpLegacy>>): Promise<Seen> {
  const taskId = 'client-made-id'
  const _meta = { 'modelcontextprotocol.io/task': { taskId }, progressToken: 'p' }
  const call = client.send('tools/call', { ...CALL, _meta })
  const created = client.found(({ method }) => method === 'notifications/tasks/created').then(() => undefined)
  const early = await Promise.race([call.answer, created])
  if (early) return inWords(textOf(early.result))
  await openGate()
  const seen = ofStatus((await client.ask('tasks/get', { taskId })).result)
  if (seen === 'asked') return seen
  // This form has no words but those of progress, all of which come before the answer.
  const run = await w.run()
  await w.set(run, () => w.backend.set(run.runKey, { state: 'succeeded' }))
  await call.answer
  return inWords(client.received.map(({ message }) => message.params?.message ?? '').join('\n'))
}

interface Path {
  readonly kind: 'task' | 'plain'
  /** Absent where callers of this path can never be asked. */
  readonly elicits?: () => Promise<Seen>
  readonly mute: () => Promise<Seen>
}

const modern = async (sent: { readonly tasks: boolean; readonly elicitation: boolean }): Promise<Seen> => {
  if (sent.tasks) {
    const { result, error } = await send(w.http.url, 'tools/call', CALL, sent)
    if (error) return inWords(error.message)
    await openGate()
    return ofStatus((await send(w.http.url, 'tasks/get', { taskId: result.taskId }, sent)).result)
  }
  const { result, error } = await held(send(w.http.url, 'tools/call', CALL, sent))
  if (error) return inWords(error.message)
  return result.resultType === 'input_required' ? 'asked' : inWords(textOf(result))
}

const inSession =
  (does: (client: Any) => Promise<Seen>, connect: (capabilities: object) => Promise<Any>) =>
  (capabilities: object) =>
  async () =>
    does(await connect(capabilities))
const overHttp = (capabilities: object) => httpLegacy(w.http.url, { capabilities })
const overStdio = (capabilities: object) => stdioLegacy(w.server, { capabilities })
const session = (kind: Path['kind'], does: (client: Any) => Promise<Seen>, connect = overHttp): Path => ({
  kind,
  elicits: inSession(does, connect)(ELICITS),
  mute: inSession(does, connect)({}),
})

const PATHS: Readonly<Record<string, Path>> = {
  'a task of the extension': {
    kind: 'task',
    elicits: () => modern({ tasks: true, elicitation: true }),
    mute: () => modern({ tasks: true, elicitation: false }),
  },
  'a plain call of 2026-07-28': {
    kind: 'plain',
    elicits: () => modern({ tasks: false, elicitation: true }),
    mute: () => modern({ tasks: false, elicitation: false }),
  },
  'a task of 2025-11-25': session('task', taskInSession),
  'a task of 2025-11-25 over stdio': session('task', taskInSession, overStdio),
  'a plain call of 2025-11-25': session('plain', plainInSession),
  'a plain call of 2025-11-25 over stdio': session('plain', plainInSession, overStdio),
  'a task of SEP-1686': session('task', underId),
  'a call without a session': {
    kind: 'plain',
    mute: () =>
      held(sendLegacy(w.http.url, 'tools/call', CALL)).then(({ result }) => inWords(textOf(result))),
  },
}

const CELLS = Object.entries(PATHS).flatMap(([name, path]) =>
  (Object.keys(SETTINGS) as Setting[]).flatMap((setting) => {
    const mute = [name, setting, 'can not be asked', path.mute, EXPECTED[setting][path.kind]] as const
    if (!path.elicits) return [mute]
    return [[name, setting, 'can be asked', path.elicits, EXPECTED[setting].elicits] as const, mute]
  }),
)

describe('humanInput', () => {
  it.each(CELLS)('%s, %s, of a caller that %s', async (_path, setting, _caller, does, expected) => {
    w = await world({ tools: [{ name: 'deploy', ...SETTINGS[setting] }] })
    ends.push(() => w.close())
    expect(await does()).toBe(expected)
    expect(w.backend.executions).toHaveLength(expected === 'refused' ? 0 : 1)
  })
})
