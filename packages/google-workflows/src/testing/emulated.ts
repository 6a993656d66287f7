import { setTimeout as delay } from 'node:timers/promises'
import type { Backend, GetContext, Marks, RunRef, Snapshot } from '@runbridge/core'
import {
  type GoogleWorkflowsEmulator,
  type GoogleWorkflowsEmulatorOptions,
  startGoogleWorkflowsEmulator,
} from '@runbridge/emulators/google'
import { onTestFinished } from 'vitest'
import { googleWorkflows } from '../backend.js'
import { createGoogleWorkflowsClients, type GoogleWorkflowsClientsOptions } from '../clients.js'
import type { GoogleWorkflow } from '../workflow.js'
import { context, look } from './scripted-clients.js'

export interface Emulated {
  readonly emulator: GoogleWorkflowsEmulator
  readonly backend: Backend<GoogleWorkflow>
  readonly warnings: string[]
  start(workflow: GoogleWorkflow, input?: object): Promise<RunRef>
  /** Looks until the run is seen as it is waited for. Marks go from look to look, as the service keeps them. */
  until(
    workflow: GoogleWorkflow,
    run: RunRef,
    seen: (snapshot: Snapshot) => boolean,
    marked?: boolean,
  ): Promise<Snapshot>
}

/** An emulator and a backend on it for one test. */
export async function emulated(
  options: GoogleWorkflowsEmulatorOptions,
  clientsOptions: GoogleWorkflowsClientsOptions = {},
): Promise<Emulated> {
  const emulator = await startGoogleWorkflowsEmulator(options)
  const clients = await createGoogleWorkflowsClients({ endpoint: emulator.url, ...clientsOptions })
  onTestFinished(async () => {
    await clients.close()
    await emulator.close()
  })
  const warnings: string[] = []
  const backend = googleWorkflows({ clients, warn: (message) => warnings.push(message) })
  const marks = new Map<string, Marks>()
  return {
    emulator,
    backend,
    warnings,
    async start(workflow, input = {}) {
      const result = await backend.start(workflow, 'rb-test', input as never, context)
      if (result.kind !== 'started') throw result.error
      return result.run
    },
    async until(workflow, run, seen, marked = true) {
      for (let looks = 0; looks < 500; looks += 1) {
        const before = marked ? marks.get(run.id) : undefined
        const how: GetContext = { ...look, gates: true, ...(before && { marks: before }) }
        const result = await backend.get(workflow, run, how)
        if (result.kind === 'snapshot') {
          if (result.marks) marks.set(run.id, result.marks)
          if (seen(result.snapshot)) return result.snapshot
        }
        await delay(2)
      }
      throw new Error('The run was not seen as it is waited for.')
    },
  }
}
