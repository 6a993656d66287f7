// `node --expose-gc test/bench/memory.mjs`: prints, as JSON, what 10,000 running tasks need in the store in memory. In the
// others they are in a file or a database.
import { createTaskService } from '@runbridge/core'
import { memory } from '@runbridge/stores/memory'
import { instantEngine } from './instant-engine.mjs'

const TASKS = 10_000

function used() {
  global.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heap: heapUsed + external, rss }
}

const store = memory()
const backend = instantEngine('run')
const { capabilities } = await backend.describe({ id: 'order' }, { signal: new AbortController().signal })
const tool = {
  name: 'order',
  backend,
  workflow: { id: 'order' },
  capabilities,
  humanInput: /** @type {const} */ ('off'),
}
let now = Date.now()
const service = createTaskService({
  store,
  tools: [{ ...tool, progress: true, retainMs: 86_400_000 }],
  clock: { now: () => now, sleep: async () => {}, timeout: () => new AbortController().signal },
  validate: () => [],
})
const before = used()
/** @type {import('@runbridge/core').TaskKey[]} */
const keys = []
for (let n = 0; n < TASKS; n += 1) {
  const outcome = await service.create({
    owner: `owner ${n % 100}`,
    tool: 'order',
    form: 'ext-tasks',
    input: { n },
  })
  if (outcome.kind === 'task') keys.push(outcome.task.record)
}
// Each has been looked at, as a task that somebody follows.
now += 1000
for (const key of keys) await service.get(key)
keys.length = 0
const after = used()
console.log(JSON.stringify({ heap: after.heap - before.heap, rss: after.rss, tasks: TASKS }))
await store.close()
