/** Numbers from a seed (mulberry32), so that what was done to the replicas can be done again. */
export function seeded(/** @type {number} */ seed) {
  let state = seed >>> 0
  /** 0 to below 1. */
  function next() {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    between: (/** @type {number} */ from, /** @type {number} */ to) =>
      from + Math.floor(next() * (to - from + 1)),
    /**
     * @template T
     * @param {readonly T[]} choices
     */
    pick: (choices) => /** @type {T} */ (choices[Math.floor(next() * choices.length)]),
  }
}
