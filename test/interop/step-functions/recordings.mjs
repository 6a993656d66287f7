import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** @typedef {{ id: number, type: string, [details: string]: any }} Event as GetExecutionHistory has it */
/**
 * @typedef {object} RecordedHistory
 * @property {string} name
 * @property {Event[]} events oldest first
 * @property {Record<string, any>} [described] what DescribeExecution answered at the end of the same test
 */

/** Fields that are JSON as text on the wire, and that the recordings often show parsed. */
const DATA = ['input', 'output', 'parameters', 'cause']

/** @param {unknown} value @returns {value is Record<string, any>} */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Undoes the placeholders: JSON is text again. @param {any} value @returns {any} */
function asAnswered(value) {
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      DATA.includes(key) && typeof member !== 'string' ? JSON.stringify(member) : asAnswered(member),
    ]),
  )
}

/** @param {any} value @returns {Event[]} */
function eventsOf(value) {
  return value.events
    .map((/** @type {any} */ event) => ({ ...asAnswered(event), timestamp: new Date(event.id * 1000) }))
    .sort((/** @type {Event} */ a, /** @type {Event} */ b) => a.id - b.id)
}

/**
 * Answers of AWS in the form of LocalStack's snapshot tests: identifiers and times are placeholders. Every history is
 * there; the tests that have none are named.
 * @param {string} folder
 */
export function readRecordings(folder) {
  /** @type {RecordedHistory[]} */
  const histories = []
  /** @type {Record<string, string[]>} */
  const without = {}
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
    const tests = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    for (const [test, recorded] of Object.entries(tests)) {
      const name = `${file} ${test.split('::').at(-1)}`
      /** @type {RecordedHistory[]} */
      const found = []
      /** @type {Record<string, any>[]} */
      const described = []
      visit(/** @type {any} */ (recorded)['recorded-content'], (value) => {
        if (Array.isArray(value.events) && value.events.length > 0) {
          found.push({ name, events: eventsOf(value) })
        } else if (isEnd(value)) described.push(asAnswered(value))
      })
      // One run and one description of it: with more of either, nothing says which belong together.
      const [history, description] = [found[0], described[0]]
      if (history && description && found.length + described.length === 2) history.described = description
      if (found.length > 1) for (const [index, one] of found.entries()) one.name += ` #${index + 1}`
      histories.push(...found)
      if (found.length === 0) without[file] = [...(without[file] ?? []), name]
    }
  }
  return { histories, without }
}

/** DescribeExecution of a run that ended; entries of lists have no input. @param {Record<string, any>} value */
function isEnd(value) {
  return 'executionArn' in value && 'input' in value && 'status' in value && value.status !== 'RUNNING'
}

/** @param {any} value @param {(object: Record<string, any>) => void} see */
function visit(value, see) {
  if (Array.isArray(value)) for (const member of value) visit(member, see)
  if (!isObject(value)) return
  see(value)
  for (const member of Object.values(value)) visit(member, see)
}
