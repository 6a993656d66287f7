import { ALWAYS_SKIPPED, NOT_COUNTED } from './scenarios.mjs'

/**
 * @typedef {{ id: string, name: string, status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO', description?: string, errorMessage?: string }} Check
 * @typedef {object} Result
 * @property {string} scenario
 * @property {Check[]} passed
 * @property {Check[]} failed
 * @property {Check[]} skipped
 * @property {Check[]} warned
 * @property {Check[]} notCounted
 */

/**
 * What counts of what the suite said of one scenario.
 * @param {string} scenario
 * @param {Check[]} checks
 * @param {string} output what the suite printed, for a scenario that gave nothing
 * @returns {Result}
 */
export function judged(scenario, checks, output) {
  const excused = NOT_COUNTED[scenario] ?? {}
  const counted = checks.filter(({ id }) => !(id in excused))
  const by = (/** @type {Check['status']} */ status) => counted.filter((check) => check.status === status)
  const failed = by('FAILURE')
  const skipped = by('SKIPPED')
  for (const { id, name, status } of checks) {
    if (id in excused && status === 'SUCCESS') {
      failed.push({ id, name, status, errorMessage: `passes now: take ${id} out of NOT_COUNTED` })
    }
  }
  for (const check of skipped) {
    if (ALWAYS_SKIPPED.includes(check.id)) continue
    failed.push({
      ...check,
      errorMessage: `was skipped here, although the suite can run it: ${check.errorMessage ?? ''}`,
    })
  }
  if (by('SUCCESS').length === 0 && failed.length === 0 && skipped.length === 0) {
    const tail = output.trim().split('\n').slice(-12).join('\n')
    failed.push({
      id: scenario,
      name: scenario,
      status: 'FAILURE',
      errorMessage: `ran no check. It printed:\n${tail}`,
    })
  }
  return {
    scenario,
    passed: by('SUCCESS'),
    failed,
    skipped: skipped.filter(({ id }) => ALWAYS_SKIPPED.includes(id)),
    warned: by('WARNING'),
    notCounted: checks.filter(({ id }) => id in excused),
  }
}
