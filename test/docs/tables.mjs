import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAY_IMPORT, STANDS_ON } from '../architecture/directions.mjs'
import { root } from '../bin/command.mjs'
import { GENERAL_SCENARIOS, NOT_COUNTED, NOT_FOR_US, TASK_SCENARIOS } from '../bin/scenarios.mjs'
import { musts } from './musts.mjs'

/** What a policy names as Resource, in words. */
const PERMITTED_ON = {
  stateMachine: 'the state machine',
  executions: 'its executions',
  mapRuns: 'its Map Runs',
  everything: '`*`',
}

/**
 * Every table that pages can show, by name, from the built packages and from what enforces them.
 * @returns {Promise<Readonly<Record<string, () => string>>>}
 */
export async function tables() {
  const core = await import('@runbridge/core')
  const extTasks = await import('@runbridge/core/wire/ext-tasks')
  const stepFunctions = await import('@runbridge/step-functions')
  const google = await import('@runbridge/google-workflows')
  return {
    packages: () =>
      table(
        ['folder', 'npm name', 'may import of ours', 'stands on'],
        Object.keys(MAY_IMPORT).map((folder) => [
          `packages/${folder}`,
          code(manifest(folder).name),
          (MAY_IMPORT[folder] ?? []).map(code).join(', '),
          (STANDS_ON[folder] ?? []).map(code).join(', '),
        ]),
      ),
    'wire-states': () =>
      table(
        ['state', 'meaning', '2026-07-28 extension', 'and a question is open for this caller'],
        core.RUN_STATES.map((state) => [
          code(state),
          comments('packages/core/src/run.ts')[state] ?? '',
          code(extTasks.STATES[state].plain),
          code(extTasks.STATES[state].asking),
        ]),
      ),
    errors: () =>
      table(
        ['error', 'meaning', 'JSON-RPC, 2026-07-28 extension'],
        core.ERROR_CODES.map((error) => [
          code(error),
          comments('packages/core/src/errors.ts')[error] ?? '',
          String(extTasks.JSON_RPC_CODES[error]),
        ]),
      ),
    capabilities: () =>
      table(
        ['capability', 'default', 'what follows'],
        Object.entries(core.DEFAULT_CAPABILITIES).map(([name, value]) => [
          code(name),
          code(JSON.stringify(value)),
          comments('packages/core/src/backend.ts')[name] ?? '',
        ]),
      ),
    'step-functions-states': () =>
      table(
        ['Step Functions says', 'state', 'message', 'result'],
        stepFunctions.STATE_TABLE.map((row) => [row.native, row.state, row.message, row.result]),
      ),
    'step-functions-errors': () =>
      table(
        ['error', 'Step Functions and the SDK say'],
        grouped(stepFunctions.ERROR_TABLE).map(([error, names]) => [code(error), names.map(code).join(', ')]),
      ),
    'step-functions-permissions': () =>
      table(
        ['for', 'IAM action', 'on', 'why'],
        Object.entries(stepFunctions.PERMISSIONS).flatMap(([feature, permissions]) =>
          permissions.map(({ action, on, why }) => [feature, code(action), PERMITTED_ON[on], why]),
        ),
      ),
    'google-workflows-states': () =>
      table(
        ['Google says', 'state', 'message', 'result'],
        google.STATE_TABLE.map((row) => [row.native, row.state, row.message, row.result]),
      ),
    'google-workflows-errors': () =>
      table(
        ['error', 'Google and its client say'],
        grouped(google.ERROR_TABLE).map(([error, names]) => [code(error), names.map(code).join(', ')]),
      ),
    'google-workflows-permissions': () =>
      table(
        ['for', 'permission', 'in the role', 'why'],
        Object.entries(google.PERMISSIONS).flatMap(([feature, permissions]) =>
          permissions.map(({ permission, role, why }) => [feature, code(permission), code(role), why]),
        ),
      ),
    'conformance-scenarios': () =>
      table(
        ['scenario', 'of', 'checks that do not fit'],
        [...TASK_SCENARIOS, ...GENERAL_SCENARIOS].map((name) => [
          code(name),
          TASK_SCENARIOS.includes(name) ? 'the extension' : 'the protocol',
          Object.entries(NOT_COUNTED[name] ?? {})
            .map(([id, why]) => `${code(id)}: ${why}`)
            .join('; '),
        ]),
      ),
    'conformance-not-for-us': () =>
      table(
        ['scenario', 'why it does not fit'],
        Object.entries(NOT_FOR_US).map(([name, why]) => [code(name), why]),
      ),
    musts: () =>
      table(
        ['requirement', 'source', 'held by'],
        musts().map(({ must, source, places }) => [
          must,
          source,
          places.map(({ file }) => `[${file.split('/').at(-1)}](../${file})`).join(', '),
        ]),
      ),
  }
}

/**
 * The comments on the members of a list or a shape, by member: `/** … *\/ 'member',` or `/** … *\/ readonly member:`. Of
 * two members with one name the first counts.
 * @param {string} file
 * @returns {Record<string, string>}
 */
function comments(file) {
  const text = readFileSync(join(root, file), 'utf8')
  const member = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:'(\w+)',|readonly (\w+)[?]?:)/g
  return Object.fromEntries(
    [...text.matchAll(member)].reverse().map(([, comment = '', listed, shaped]) => [
      listed ?? shaped,
      comment
        .replace(/^\s*\*/gm, '')
        .replace(/\s+/g, ' ')
        .trim()
        .replace(/\.$/, ''),
    ]),
  )
}

/** @param {Readonly<Record<string, string>>} names */
function grouped(names) {
  /** @type {Map<string, string[]>} */
  const groups = new Map()
  for (const [name, group] of Object.entries(names)) groups.set(group, [...(groups.get(group) ?? []), name])
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** @param {string} folder */
function manifest(folder) {
  return JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'))
}

/** @param {string} text */
function code(text) {
  return `\`${text}\``
}

/**
 * @param {readonly string[]} head
 * @param {readonly (readonly (string | undefined)[])[]} rows
 */
function table(head, rows) {
  const line = (/** @type {readonly (string | undefined)[]} */ cells) =>
    `| ${cells.map((cell = '') => cell.replaceAll('|', '\\|')).join(' | ')} |`.replace(/ {2,}/g, ' ')
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
