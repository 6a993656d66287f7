/** @typedef {{ readonly name: string, readonly reason: string }} Remark a check that did not pass, and why */
/**
 * @typedef {object} Figures what one part of `npm run interop` found
 * @property {string[]} passed
 * @property {Remark[]} failed
 * @property {Remark[]} skipped what could not be tried, and what the other side is known to do wrong
 */

/** @param {unknown} thrown */
const messageOf = (thrown) => (thrown instanceof Error ? thrown.message : String(thrown))

/**
 * Runs checks one after the other and keeps what became of each.
 * @param {(line: string) => void} print
 */
export function createChecks(print) {
  /** @type {Figures} */
  const figures = { passed: [], failed: [], skipped: [] }
  /** @param {'failed' | 'skipped'} what @param {string} name @param {string} reason */
  const remark = (what, name, reason) => {
    figures[what].push({ name, reason })
    print(`${what === 'failed' ? 'FAILED ' : 'skipped'} ${name}: ${reason.trim().split('\n')[0]}`)
  }
  /** @param {string} name */
  const passed = (name) => {
    figures.passed.push(name)
    print(`ok      ${name}`)
  }
  return {
    figures,
    /** @param {string} name @param {() => unknown} check throws when it does not hold */
    async check(name, check) {
      try {
        await check()
        passed(name)
      } catch (thrown) {
        remark('failed', name, messageOf(thrown))
      }
    },
    /**
     * What the other side does wrong. It is tried all the same: once it holds, the remark has to go.
     * @param {string} name @param {string} reason @param {() => unknown} check
     */
    async known(name, reason, check) {
      try {
        await check()
      } catch {
        remark('skipped', name, reason)
        return
      }
      remark('failed', name, `this holds now; make it a check. It was listed with: ${reason}`)
    },
    /** @param {string} name @param {string} reason */
    skip(name, reason) {
      remark('skipped', name, reason)
    },
  }
}

/** @typedef {ReturnType<typeof createChecks>} Checks */
