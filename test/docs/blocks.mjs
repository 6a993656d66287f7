import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../bin/command.mjs'

const TABLE = /(<!-- table: ([\w-]+) -->\n)([\s\S]*?)(<!-- \/table -->)/g
const SNIPPET = /(<!-- file: ([^\s>]+?)(?:#([\w-]+))? -->\n+)(```\w*\n)([\s\S]*?)(^```$)/gm

/**
 * The page with what is generated in it as the code and the files have it now.
 *
 *     <!-- table: NAME -->            a table of tables.mjs
 *     <!-- /table -->
 *
 *     <!-- file: path/of/file -->     the file, or its part between lines that hold `#region NAME` and `#endregion`,
 *     ```yaml                         in the code block that follows: `<!-- file: path/of/file#NAME -->`
 *     ```
 *
 * @param {import('./pages.mjs').Page} page
 * @param {Readonly<Record<string, () => string>>} tables
 * @returns {{ text: string, tables: number, snippets: number, problems: string[] }}
 */
export function filled({ path, text }, tables) {
  /** @type {string[]} */
  const problems = []
  let tableCount = 0
  let snippetCount = 0
  const withTables = text.replace(TABLE, (whole, begin, name, _old, end) => {
    tableCount += 1
    const table = Object.hasOwn(tables, name) ? tables[name] : undefined
    if (table) return `${begin}\n${table()}\n\n${end}`
    problems.push(`${path}: there is no table ${name}; there are ${Object.keys(tables).join(', ')}`)
    return whole
  })
  const done = withTables.replace(SNIPPET, (whole, begin, file, region, open, _old, close) => {
    snippetCount += 1
    const content = snippet(file, region)
    if (content !== undefined) return `${begin}${open}${content}${close}`
    problems.push(`${path}: there is no ${region ? `region ${region} in ${file}` : `file ${file}`}`)
    return whole
  })
  return { text: done, tables: tableCount, snippets: snippetCount, problems }
}

/**
 * @param {string} file
 * @param {string | undefined} region
 */
function snippet(file, region) {
  if (!existsSync(join(root, file))) return undefined
  const content = readFileSync(join(root, file), 'utf8')
  if (region === undefined) return content.endsWith('\n') ? content : `${content}\n`
  const lines = content.split('\n')
  const begin = lines.findIndex((line) => new RegExp(`#region ${region}\\b`).test(line))
  const length = lines.slice(begin + 1).findIndex((line) => /#endregion\b/.test(line))
  if (begin < 0 || length < 0) return undefined
  const part = lines.slice(begin + 1, begin + 1 + length)
  const indent = Math.min(...part.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)))
  return part.map((line) => `${line.slice(indent)}\n`).join('')
}
