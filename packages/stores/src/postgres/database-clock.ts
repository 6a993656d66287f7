/** The time of the database, carried on between two looks at it by a clock that nobody sets. */
export interface DatabaseClock {
  /** ms since the epoch. */
  now(): number
  /** Asks the database. */
  measure(): Promise<void>
}

/**
 * @param ask the time of the database, in ms since the epoch
 * @param elapsed ms since any fixed moment, never set back
 */
export function databaseClock(
  ask: () => Promise<number>,
  elapsed: () => number = () => performance.now(),
): DatabaseClock {
  /** The time of the database when `elapsed` was 0. */
  let base: number | undefined

  return {
    now: () => Math.floor((base ?? 0) + elapsed()),
    async measure() {
      const sent = elapsed()
      const told = await ask()
      const halfWay = (elapsed() - sent) / 2
      const measured = told - sent - halfWay
      // It was told at some moment between question and answer: a base that fits is as good, and stands still.
      if (base === undefined || Math.abs(measured - base) > halfWay) base = measured
    },
  }
}
