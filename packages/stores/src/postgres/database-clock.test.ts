import { expect, it } from 'vitest'
import { databaseClock } from './database-clock.js'

/** A database whose clock shows something, at the end of a way that takes its time in both directions. */
function world() {
  let elapsed = 1_000
  const database = { offset: 500_000, there: 0, back: 0 }
  const clock = databaseClock(
    async () => {
      elapsed += database.there
      const told = elapsed + database.offset
      elapsed += database.back
      return told
    },
    () => elapsed,
  )
  const pass = (ms: number) => {
    elapsed += ms
  }
  return { database, clock, pass, wrongBy: () => clock.now() - (elapsed + database.offset) }
}

it('shows the time of the database, and goes on between two looks', async () => {
  const { clock, pass, wrongBy } = world()
  await clock.measure()
  expect(wrongBy()).toBe(0)
  pass(7_000)
  expect(wrongBy()).toBe(0)
})

it('is wrong by half of the way at most, and stays where a look only shows a longer way', async () => {
  const { database, clock, wrongBy } = world()
  Object.assign(database, { there: 0, back: 400 })
  await clock.measure()
  expect(wrongBy()).toBe(-200)
  Object.assign(database, { there: 300, back: 300 })
  await clock.measure()
  expect(wrongBy()).toBe(-200)
})

it('gets better with a look that had a shorter way', async () => {
  const { database, clock, wrongBy } = world()
  Object.assign(database, { there: 0, back: 400 })
  await clock.measure()
  Object.assign(database, { there: 10, back: 10 })
  await clock.measure()
  expect(wrongBy()).toBe(0)
})

it('follows a database whose clock is set, in both directions', async () => {
  const { database, clock, wrongBy } = world()
  Object.assign(database, { there: 5, back: 5 })
  await clock.measure()
  for (const jump of [60_000, -3_600_000]) {
    database.offset += jump
    expect(wrongBy()).toBe(-jump)
    await clock.measure()
    expect(wrongBy()).toBe(0)
  }
})
