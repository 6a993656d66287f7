import { afterEach, expect, it, vi } from 'vitest'
import { longTimer } from './long-timer.js'

afterEach(() => void vi.useRealTimers())

it('waits longer than 31 bits of milliseconds', () => {
  vi.useFakeTimers()
  const ended = vi.fn()
  longTimer(ended, 99_999_999_000)
  vi.advanceTimersByTime(99_999_998_999)
  expect(ended).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(ended).toHaveBeenCalledOnce()
})

it('can be stopped', () => {
  vi.useFakeTimers()
  longTimer(expect.unreachable, 3_000_000_000).stop()
  expect(vi.getTimerCount()).toBe(0)
})
