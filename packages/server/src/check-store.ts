import { RunbridgeError, type StoreCapability, type TaskStore } from '@runbridge/core'
import type { Tool } from './tool.js'

interface Need {
  readonly capability: StoreCapability
  /** The beginning of a sentence that ends with why the store can't. */
  readonly problem: string
}

/** What a tool needs of a store beyond handing out and reading handles. */
function needsOf({ name, idempotencyKey, confirm, askFor, capabilities }: Tool): Need[] {
  const needs: Need[] = []
  if (idempotencyKey !== undefined) {
    needs.push({ capability: 'claim', problem: `${name}: idempotencyKey has no effect` })
  }
  const asks = confirm !== undefined || Object.keys(askFor ?? {}).length > 0
  // An answer that is sent again finds its record, or starts again what the engine knows already.
  if (asks && capabilities.execution === 'run' && capabilities.start !== 'idempotent') {
    const problem = `${name}: an answer to confirm or askFor that is sent twice would start twice, since this engine does not know a start again`
    needs.push({ capability: 'update', problem })
  }
  return needs
}

/** Throws `misconfigured` with every tool that the store can't serve as it is configured, and why. */
export function checkStore({ lacks = {} }: Pick<TaskStore, 'lacks'>, tools: readonly Tool[]): void {
  const problems = tools.flatMap(needsOf).flatMap(({ capability, problem }) => {
    const reason = lacks[capability]
    return reason === undefined ? [] : [`${problem}: ${reason}.`]
  })
  if (problems.length === 0) return
  throw new RunbridgeError('misconfigured', `${problems.join('\n')}\nChange these, or name another store.`)
}
