import { startSandbox } from './sandbox.mjs'

/**
 * As many sandboxes of a function as there are invocations at the same time, as Lambda has them: whatever comes while one
 * is at work goes to another.
 * @param {Parameters<typeof startSandbox>[0]} options
 */
export function startFleet(options) {
  /** @type {{ started: ReturnType<typeof startSandbox>, busy: boolean }[]} */
  const fleet = []
  /** @template T @param {(sandbox: import('./sandbox.mjs').Sandbox) => Promise<T>} work */
  async function withOne(work) {
    let one = fleet.find(({ busy }) => !busy)
    if (!one) {
      one = { started: startSandbox(options), busy: true }
      fleet.push(one)
    }
    one.busy = true
    const sandbox = await one.started
    try {
      return await work(sandbox)
    } finally {
      // It is free when it asks for the next event, for which it stands still.
      while (!sandbox.frozen()) await new Promise((resolve) => setTimeout(resolve, 2))
      one.busy = false
    }
  }
  const sandboxes = () => Promise.all(fleet.map(({ started }) => started))
  return {
    /** @param {object} event @returns {Promise<any>} */
    invoke: (event) => withOne((sandbox) => sandbox.invoke(event)),
    /** Resolves with the head of the answer. @param {object} event @returns {Promise<import('./sandbox.mjs').Streamed>} */
    stream: (event) =>
      new Promise((resolve, reject) => {
        withOne(async (sandbox) => {
          const streamed = await sandbox.stream(event)
          resolve(streamed)
          await streamed.ended
        }).catch(reject)
      }),
    /** How many invocations are under way. */
    busy: () => fleet.filter(({ busy }) => busy).length,
    size: () => fleet.length,
    /** What all of them wrote to standard error. */
    log: async () => (await sandboxes()).map((sandbox) => sandbox.log()).join(''),
    async close() {
      for (const sandbox of await sandboxes()) await sandbox.close()
    },
  }
}
