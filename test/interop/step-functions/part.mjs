import { createChecks } from '../checks.mjs'
import { againstMinistack } from './against-ministack.mjs'
import { againstRecordings } from './against-recordings.mjs'

/**
 * The Step Functions adapter against an engine that others wrote, and against recorded answers of AWS.
 * @type {import('../../bin/interop.mjs').Part}
 */
export async function stepFunctions(print) {
  const checks = createChecks(print)
  await againstRecordings(checks, process.env.RUNBRIDGE_RECORDINGS)
  await againstMinistack(checks, print)
  return checks.figures
}
