import { afterEach, describe, expect, it } from 'vitest'
import { headersOf, message, send } from './testing/raw-client.js'
import { rawStdio } from './testing/raw-stdio.js'
import { until, type World, world } from './testing/world.js'

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever came over the wire
type Any = any

let w: World
afterEach(() => w.close())

const TASKS = { tasks: true }

/** Two tasks, one of which changes more often than its subscriber reads. */
async function tasks(): Promise<string[]> {
  w = await world()
  const call = () => send(w.http.url, 'tools/call', { name: 'order', arguments: {} }, TASKS)
  return [(await call()).result.taskId, (await call()).result.taskId]
}

async function change(times: number): Promise<void> {
  const run = await w.run()
  for (let done = 1; done <= times; done += 1) {
    await w.set(run, () => w.backend.set(run.runKey, { state: 'running', progress: { message: 'x', done } }))
  }
}

const listen = (taskIds: readonly string[]) =>
  message('slow', 'subscriptions/listen', { notifications: { taskIds } }, TASKS)

describe('a slow reader', () => {
  it('over HTTP gets the latest of each task, however much it missed', async () => {
    const taskIds = await tasks()
    const response = await w.server.handler(
      new Request('http://127.0.0.1/mcp', {
        method: 'POST',
        headers: headersOf('subscriptions/listen'),
        body: JSON.stringify(listen(taskIds)),
      }),
    )
    const reader = response.body?.getReader()
    const read = async (): Promise<Any> => {
      const text = Buffer.from((await reader?.read())?.value ?? []).toString()
      return JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? 'null')
    }
    expect((await read()).method).toBe('notifications/subscriptions/acknowledged')
    expect([(await read()).params.taskId, (await read()).params.taskId]).toEqual(taskIds)
    await change(50)
    const messages = [(await read()).params.statusMessage]
    while (!messages.at(-1).includes('50 done')) messages.push((await read()).params.statusMessage)
    // The one that it was about to take when the first change came, and the latest.
    expect(messages.length).toBeLessThanOrEqual(2)
    await reader?.cancel()
  })

  it('over stdio holds up its own subscription alone, and then gets the latest', async () => {
    const taskIds = await tasks()
    const { input, output, write, stdio } = rawStdio(w.server, 1)
    write(listen(taskIds))
    await until(() => output.readableLength + output.writableLength > 0)
    await change(50)
    const waiting = output.readableLength + output.writableLength
    await change(50)
    expect(output.readableLength + output.writableLength).toBe(waiting)
    let text = ''
    output.on('data', (chunk) => {
      text += chunk
    })
    await until(() => text.includes(taskIds[1] ?? '') && text.includes('50 done'))
    const told = text.split('\n').filter((line) => line.includes('notifications/tasks'))
    expect(told.length).toBeLessThanOrEqual(4)
    input.end()
    await stdio.ended
  })
})
