import { afterEach, expect, it, vi } from 'vitest'
import { tableAccess } from './access.js'
import type { DynamoDbClient } from './client.js'

vi.mock('node:timers/promises', () => ({ setTimeout: async () => undefined }))
afterEach(() => vi.clearAllMocks())

/** A table that leaves the keys out so many times before it reads them, and finds nothing. */
function throttled(times: number) {
  let asked = 0
  const batchGetItem = vi.fn<DynamoDbClient['batchGetItem']>(async ({ RequestItems }) => {
    asked += 1
    return asked <= times ? { UnprocessedKeys: { tasks: { Keys: RequestItems.tasks?.Keys } } } : {}
  })
  const access = tableAccess({ batchGetItem } as unknown as DynamoDbClient, 'tasks')
  return { batchGetItem, read: () => access.records([{ owner: 'local', taskId: 'tsk_1' }]) }
}

it('asks again for what a throttled table left out', async () => {
  const { read, batchGetItem } = throttled(3)
  expect(await read()).toEqual([])
  expect(batchGetItem).toHaveBeenCalledTimes(4)
})

it('does not ask for ever', async () => {
  const { read, batchGetItem } = throttled(Number.POSITIVE_INFINITY)
  await expect(read()).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/^The task store is throttled\. Nothing was written/),
  })
  expect(batchGetItem.mock.calls.length).toBeLessThan(10)
})
