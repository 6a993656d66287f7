import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { MAY_IMPORT, STANDS_ON } from '../architecture/directions.mjs'
import { root } from '../bin/command.mjs'
import { GENERAL_SCENARIOS, NOT_COUNTED, NOT_FOR_US, TASK_SCENARIOS } from '../bin/scenarios.mjs'

/**
 * Every table that pages can show, by name, from the built packages and from what enforces them.
 * @returns {Promise<Readonly<Record<string, () => string>>>}
 */
export async function tables() {
  const core = await import('@runbridge/core')
  const extTasks = await import('@runbridge/core/wire/ext-tasks')
  const stepFunctions = {
    states: await dist('step-functions', 'states'),
    errors: await dist('step-functions', 'errors'),
  }
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
        stepFunctions.states.STATE_TABLE.map((/** @type {Record<string, string>} */ row) => [
          row.native,
          row.state,
          row.message,
          row.result,
        ]),
      ),
    'step-functions-errors': () =>
      table(
        ['error', 'Step Functions and the SDK say'],
        grouped(stepFunctions.errors.ERROR_TABLE).map(([error, names]) => [
          code(error),
          names.map(code).join(', '),
        ]),
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
        ['requirement, as its test is named', 'test'],
        musts().map(({ title, file }) => [title, `[${file.split('/').at(-1)}](../${file})`]),
      ),
  }
}

/**
 * The titles of tests in the files that are named for requirements, in the order in which they stand.
 * @returns {{ title: string, file: string }[]}
 */
function musts() {
  const files = readdirSync(join(root, 'packages'), { recursive: true, encoding: 'utf8' })
    .map((file) => `packages/${file.replaceAll('\\', '/')}`)
    .filter(
      (file) => /\/src\/(.*\/)?[\w-]*musts[\w-]*\.test\.ts$/.test(file) && !file.includes('/node_modules/'),
    )
    .sort()
  return files.flatMap((file) => titles(file).map((title) => ({ title, file })))
}

/** @param {string} file */
function titles(file) {
  /** @type {string[]} */
  const found = []
  const source = ts.createSourceFile(
    file,
    readFileSync(join(root, file), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  )
  const visit = (/** @type {ts.Node} */ node) => {
    if (ts.isCallExpression(node)) {
      const callee = node.expression.getText()
      const [title] = node.arguments
      if (
        /^(test|it)(\.(concurrent|each\b.*|for\b.*))?$/s.test(callee) &&
        title &&
        ts.isStringLiteralLike(title)
      ) {
        found.push(title.text)
        return
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/**
 * A module of a built package that is not part of what the package exports.
 * @param {string} pkg
 * @param {string} module
 */
async function dist(pkg, module) {
  const file = join(root, 'packages', pkg, 'dist', `${module}.js`)
  if (!existsSync(file))
    throw new Error(`packages/${pkg} builds no ${module}.js any more: mend test/docs/tables.mjs.`)
  return import(file)
}

/**
 * The comments on the members of a list or a shape, by member: `/** … *\/ 'member',` or `/** … *\/ readonly member:`.
 * @param {string} file
 * @returns {Record<string, string>}
 */
function comments(file) {
  const text = readFileSync(join(root, file), 'utf8')
  const member = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:'(\w+)',|readonly (\w+)[?]?:)/g
  return Object.fromEntries(
    [...text.matchAll(member)].map(([, comment = '', listed, shaped]) => [
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
