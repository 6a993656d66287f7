import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { underAny } from './under-any.js'

const three = () => [new AbortController(), new AbortController(), new AbortController()] as const
const listening = (signals: readonly AbortSignal[]) =>
  signals.flatMap((signal) => getEventListeners(signal, 'abort'))

it('aborts with the first of them, for its reason, also where that was before', async () => {
  const sources = three()
  const signals = sources.map(({ signal }) => signal)
  await underAny(signals, async (signal) => {
    expect(signal.aborted).toBe(false)
    sources[1].abort('gone')
    expect([signal.aborted, signal.reason]).toEqual([true, 'gone'])
  })
  await underAny(signals, async (signal) => expect(signal.reason).toBe('gone'))
})

it('leaves nothing with them, whatever becomes of the work', async () => {
  const signals = three().map(({ signal }) => signal)
  await underAny(signals, async () => expect(listening(signals)).toHaveLength(3))
  await expect(underAny(signals, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(listening(signals)).toEqual([])
})
