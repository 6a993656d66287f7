import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPace } from './pace.js'

const T0 = Date.UTC(2026, 6, 28)
const quota = { name: 'here', perSecond: 7 }

/** The most that any span of `ms` holds. */
function worst(times: readonly number[], ms = 1000): number {
  const sorted = [...times].sort((a, b) => a - b)
  return Math.max(0, ...sorted.map((from) => sorted.filter((at) => at >= from && at < from + ms).length))
}

describe('admit', () => {
  it('lets no second have more than the quota, whenever looks come', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.2, max: 20, noNaN: true }),
        fc.array(fc.nat(400), { minLength: 1, maxLength: 200 }),
        (perSecond, pauses) => {
          const pace = createPace()
          let now = T0
          const sent: number[] = []
          for (const pause of pauses) {
            now += pause
            if (pace.admit({ name: 'any', perSecond }, now)) sent.push(now)
          }
          const room = Math.max(1, Math.floor(perSecond))
          expect(worst(sent, (1000 * room) / perSecond)).toBeLessThanOrEqual(room)
          expect(sent[0]).toBe(T0 + (pauses[0] ?? 0))
        },
      ),
    )
  })

  it('keeps quotas apart', () => {
    const pace = createPace()
    for (let n = 0; n < 7; n += 1) expect(pace.admit(quota, T0)).toBe(true)
    expect(pace.admit(quota, T0)).toBe(false)
    expect(pace.admit({ ...quota, name: 'there' }, T0)).toBe(true)
    expect(pace.admit(quota, T0 + 999)).toBe(false)
    expect(pace.admit(quota, T0 + 1000)).toBe(true)
  })
})

describe('plan', () => {
  it('gives every look a moment of its own, none before its time, within the quota', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20_000), { minLength: 1, maxLength: 150 }), (froms) => {
        const pace = createPace()
        const slots = froms.map((from) => pace.plan(quota, T0 + from, T0))
        for (const [n, slot] of slots.entries()) expect(slot).toBeGreaterThanOrEqual(T0 + (froms[n] ?? 0))
        expect(worst(slots)).toBeLessThanOrEqual(7)
      }),
    )
  })

  it('takes the first moment that is free', () => {
    const pace = createPace()
    pace.plan(quota, T0 + 60_000, T0)
    expect(pace.plan(quota, T0, T0)).toBeLessThan(T0 + 1000)
    const last = Math.max(...Array.from({ length: 700 }, () => pace.plan(quota, T0, T0)))
    // 701 looks at 0.9 of 7 a second.
    expect(last - T0).toBeGreaterThan(110_000)
    expect(last - T0).toBeLessThan(112_000)
  })

  it('forgets moments that are over, and no others', () => {
    const pace = createPace()
    const ahead = Array.from({ length: 100 }, () => pace.plan(quota, T0 + 120_000, T0))
    for (let now = T0; now < T0 + 119_000; now += 1000) pace.plan(quota, now, now)
    expect(ahead).not.toContain(pace.plan(quota, T0 + 120_000, T0 + 119_000))
  })
})

describe('throttling', () => {
  const sentIn = (pace: ReturnType<typeof createPace>, from: number) =>
    Array.from({ length: 1000 }, (_, n) => from + 10 * n).filter((at) => pace.admit(quota, at)).length

  it('slows looks down, by more when it goes on, and lets them recover', () => {
    const pace = createPace()
    expect(sentIn(pace, T0)).toBe(70)
    pace.throttled(quota, T0 + 20_000)
    pace.throttled(quota, T0 + 20_001)
    expect(sentIn(pace, T0 + 20_001)).toBe(35)
    pace.throttled(quota, T0 + 40_000)
    expect(sentIn(pace, T0 + 40_001)).toBeLessThanOrEqual(21)
    for (let n = 0; n < 20; n += 1) pace.throttled(quota, T0 + 60_000 + 2000 * n)
    expect(sentIn(pace, T0 + 100_000)).toBeGreaterThan(0)
    expect(sentIn(pace, T0 + 600_000)).toBe(70)
  })

  it('spreads what is planned as far', () => {
    const pace = createPace()
    pace.throttled(quota, T0)
    const slots = Array.from({ length: 100 }, () => pace.plan(quota, T0, T0))
    expect(worst(slots, 2000)).toBeLessThanOrEqual(7)
  })
})
