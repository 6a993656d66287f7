import { expect, it } from 'vitest'
import { simulatedHour } from './hour.mjs'

// `npm run interop -- github` does the same with twenty runs.
it('three runs of an hour cost no more than their changes', async () => {
  const hour = await simulatedHour({ runs: 3, minutes: 58 })
  expect(hour.states).toEqual(['succeeded'])
  expect(hour.requests).toBeGreaterThan(400)
  expect(hour.costed).toBeLessThan(150)
}, 60_000)
