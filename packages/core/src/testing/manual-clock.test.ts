import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { manualClock } from './manual-clock.js'

it('a sleep that is over listens to its signal no more, whether its time came or it was woken', async () => {
  const clock = manualClock()
  const waking = new AbortController()
  const slept = clock.sleep(1_000, waking.signal)
  await clock.advance(1_000)
  await slept
  expect(getEventListeners(waking.signal, 'abort')).toEqual([])
  const woken = clock.sleep(1_000, waking.signal)
  waking.abort()
  await woken
  expect(getEventListeners(waking.signal, 'abort')).toEqual([])
})
