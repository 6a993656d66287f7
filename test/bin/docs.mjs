// `npm run docs [-- --check] [-- --json]`: writes what pages take from code and files; with --check it writes nothing and
// fails when a page is stale. Broken links fail both.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { filled } from '../docs/blocks.mjs'
import { checkLinks } from '../docs/links.mjs'
import { pages } from '../docs/pages.mjs'
import { tables } from '../docs/tables.mjs'
import { build } from './build.mjs'
import { bin, root, run } from './command.mjs'

/** The reference of the configuration and the editor's schema are written by a test of the package that knows them. */
const REFERENCE = 'packages/cli/src/config/published.test.ts'

async function main() {
  const check = process.argv.includes('--check')
  const json = process.argv.includes('--json')
  await build({ declarations: false })

  /** @type {string[]} */
  const problems = []
  const reference = await run(bin('vitest'), ['run', REFERENCE, ...(check ? [] : ['--update'])])
  if (reference.code !== 0) {
    problems.push(`${REFERENCE} failed: the configuration's reference is stale.\n${reference.output.trim()}`)
  }

  const known = await tables()
  const figures = { pages: 0, tables: 0, snippets: 0, links: 0 }
  for (const page of pages()) {
    const { text, tables: shown, snippets, problems: missing } = filled(page, known)
    problems.push(...missing)
    if (text !== page.text && check)
      problems.push(`${page.path} is stale: run \`npm run docs\` and look at what changed.`)
    if (text !== page.text && !check) writeFileSync(join(root, page.path), text)
    const { links, problems: broken } = checkLinks({ path: page.path, text })
    problems.push(...broken)
    figures.pages += 1
    figures.tables += shown
    figures.snippets += snippets
    figures.links += links
  }

  if (json) {
    console.log(JSON.stringify({ ...figures, problems }, null, 2))
  } else {
    for (const problem of problems) console.log(problem)
    console.log(
      `docs: ${figures.pages} pages, ${figures.tables} tables, ${figures.snippets} snippets, ${figures.links} links, ${problems.length} problems`,
    )
  }
  process.exitCode = problems.length === 0 ? 0 : 1
}

try {
  await main()
} catch (error) {
  console.error(`docs could not run: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
