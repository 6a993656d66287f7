import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAY_IMPORT, STANDS_ON } from '../architecture/directions.mjs'
import { root } from '../bin/command.mjs'
import {
  GENERAL_SCENARIOS,
  NOT_COUNTED,
  NOT_FOR_US,
  OLDER_NOT_FOR_US,
  OLDER_SCENARIOS,
  TASK_SCENARIOS,
} from '../bin/scenarios.mjs'
import { musts, musts2025 } from './musts.mjs'
import { sep1686Requirements } from './sep-1686.mjs'

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
  const core2025 = await import('@runbridge/core/wire/core-2025-11-25')
  const sep1686 = await import('@runbridge/core/wire/sep-1686')
  const stepFunctions = await import('@runbridge/step-functions')
  const google = await import('@runbridge/google-workflows')
  const github = await import('@runbridge/github-actions')
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
        ['state', 'meaning', '2026-07-28 extension', '2025-11-25', 'SEP-1686'],
        core.RUN_STATES.map((state) => [
          code(state),
          comments('packages/core/src/run.ts')[state] ?? '',
          asked(extTasks.STATES[state]),
          asked(core2025.STATES[state]),
          situated(sep1686.STATES[state]),
        ]),
      ),
    errors: () =>
      table(
        ['error', 'meaning', 'JSON-RPC, 2026-07-28 extension', '2025-11-25', 'SEP-1686'],
        core.ERROR_CODES.map((error) => [
          code(error),
          comments('packages/core/src/errors.ts')[error] ?? '',
          ...[extTasks, core2025, sep1686].map(({ JSON_RPC_CODES }) => String(JSON_RPC_CODES[error])),
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
    'github-actions-states': () =>
      table(
        ['GitHub says', 'state', 'message', 'result'],
        github.STATE_TABLE.map((row) => [row.native, row.state, row.message, row.result]),
      ),
    'github-actions-errors': () =>
      table(
        ['GitHub says', 'error'],
        github.ERROR_TABLE.map(({ native, code: error }) => [native, code(error)]),
      ),
    'github-actions-permissions': () =>
      table(
        ['for', 'permission', 'of the token of', 'why'],
        Object.entries(github.PERMISSIONS).flatMap(([feature, permissions]) =>
          permissions.map(({ permission, token, why }) => [
            feature,
            code(permission),
            token === 'server' ? 'the server' : 'the reviewer',
            why,
          ]),
        ),
      ),
    'conformance-scenarios': () =>
      table(
        ['scenario', 'of', 'checks that do not fit'],
        [...TASK_SCENARIOS, ...GENERAL_SCENARIOS, ...OLDER_SCENARIOS].map((name) => [
          code(name),
          TASK_SCENARIOS.includes(name) ? 'the extension' : (name.split('@')[1] ?? '2026-07-28'),
          Object.entries(NOT_COUNTED[name] ?? {})
            .map(([id, why]) => `${code(id)}: ${why}`)
            .join('; '),
        ]),
      ),
    'conformance-not-for-us': () =>
      table(
        ['scenario', 'of', 'why it does not fit'],
        [
          ...Object.entries(NOT_FOR_US).map(([name, why]) => [code(name), '2026-07-28', why]),
          ...Object.entries(OLDER_NOT_FOR_US).map(([name, why]) => [code(name), '2025-11-25', why]),
        ],
      ),
    musts: () => mustTable(musts()),
    'musts-2025-11-25': () => mustTable(musts2025()),
    'sep-1686': () =>
      table(
        ['section', 'requirement', 'what we do otherwise, or more', 'held by'],
        sep1686Requirements().map(({ number, says, note, places }) => [number, says, note, links(places)]),
      ),
  }
}

/**
 * A status, and what it is where a question is open that this caller can be asked.
 * @param {{ plain: string, asking: string }} status
 */
function asked({ plain, asking }) {
  return plain === asking
    ? code(plain)
    : `${code(asking)}, or ${code(plain)} where this caller can not be asked`
}

/**
 * A status of SEP-1686, and what else it depends on.
 * @param {(situation: { asking: boolean, begun: boolean, started: boolean }) => string} status
 */
function situated(status) {
  const usual = { asking: true, begun: true, started: true }
  const but = (/** @type {Partial<typeof usual>} */ changes) => code(status({ ...usual, ...changes }))
  const now = but({})
  if (but({ asking: false }) !== now)
    return `${now}, or ${but({ asking: false })} where this caller can not be asked`
  if (but({ begun: false }) !== now)
    return `${but({ begun: false })} until the engine was seen executing it, then ${now}`
  if (but({ started: false }) !== now)
    return `${now}, or ${but({ started: false })} where the start could not be settled`
  return now
}

/** @param {ReturnType<typeof musts>} rows */
function mustTable(rows) {
  return table(
    ['requirement', 'source', 'held by'],
    rows.map(({ must, source, places }) => [must, source, links(places)]),
  )
}

/** @param {readonly { file: string }[]} places */
function links(places) {
  return [...new Set(places.map(({ file }) => file))]
    .map((file) => `[${file.split('/').at(-1)}](../${file})`)
    .join(', ')
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
