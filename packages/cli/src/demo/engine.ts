import { fileURLToPath } from 'node:url'
import { type StepFunctionsEmulator, startStepFunctionsEmulator } from '@runbridge/emulators/step-functions'
import { demoFunctions } from './functions.js'

const definition = (name: string) => fileURLToPath(new URL(`../../demo/${name}.asl.json`, import.meta.url))

/**
 * The demo's state machines by name, on the embedded engine.
 * @param pace of their functions: 1 as a person follows it, 0 for tests
 */
export function startDemoEngine(pace = 1): Promise<StepFunctionsEmulator> {
  return startStepFunctionsEmulator({
    stateMachines: {
      OrderPipeline: definition('order-pipeline'),
      DeployWithApproval: definition('deploy-with-approval'),
      NightlyBatch: definition('nightly-batch'),
    },
    tasks: demoFunctions(pace),
  })
}
