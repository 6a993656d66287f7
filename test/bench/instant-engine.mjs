import { DEFAULT_CAPABILITIES } from '@runbridge/core'

/**
 * An engine that answers at once and whose runs never end, so that what is measured is not an engine.
 * @param {'run' | 'call'} execution
 * @returns {import('@runbridge/core').Backend}
 */
export function instantEngine(execution) {
  const snapshot = /** @type {const} */ ({
    state: 'running',
    nativeState: 'RUNNING',
    progress: { message: 'Charge' },
    gates: [],
    links: [{ title: 'Run', url: 'https://example.com/runs/1' }],
  })
  return {
    name: 'instant',
    visibilityMs: 1000,
    describe: async () => ({ capabilities: { ...DEFAULT_CAPABILITIES, execution } }),
    start: async (_, runKey) => ({ kind: 'started', run: { id: runKey, attempt: 0 } }),
    find: async () => ({ kind: 'absent' }),
    get: async () => ({ kind: 'snapshot', snapshot }),
    cancel: async () => ({ kind: 'sent' }),
    answer: async () => ({ kind: 'too_late' }),
    call: async (_, input) => ({
      kind: 'ended',
      snapshot: { ...snapshot, state: 'succeeded', nativeState: 'SUCCEEDED', output: input, links: [] },
    }),
  }
}
