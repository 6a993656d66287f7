import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { root } from '../bin/command.mjs'

/** Where this repository is read by others: pages of packages are shown elsewhere, where relative links lead nowhere. */
const PUBLISHED = 'https://github.com/runbridge/runbridge/blob/main/'

/** Paths of the repository in inline code: they have to exist as links do. */
const PATH = /^(?:packages|test|docs|examples|\.ci|\.changeset)\/[\w./-]+$/

/**
 * What in a page leads nowhere: relative links, their anchors, and paths of the repository in inline code. Links to
 * other hosts are not followed, but those to this repository are.
 * @param {import('./pages.mjs').Page} page
 * @returns {{ links: number, problems: string[] }}
 */
export function checkLinks({ path, text }) {
  const prose = text.replace(/^(```|~~~)[\s\S]*?^\1/gm, (block) => block.replace(/[^\n]/g, ''))
  const problems = []
  let links = 0
  for (const { index, target } of targets(prose)) {
    links += 1
    const problem = linkProblem(path, target)
    if (problem) problems.push(`${path}:${lineOf(prose, index)}: ${problem}`)
  }
  for (const match of prose.matchAll(/`([^`\n]+)`/g)) {
    const [, code = ''] = match
    if (!PATH.test(code)) continue
    links += 1
    if (!existsSync(join(root, code))) problems.push(`${path}:${lineOf(prose, match.index)}: no file ${code}`)
  }
  return { links, problems }
}

/** @param {string} prose */
function* targets(prose) {
  const withoutCode = prose.replace(/`[^`\n]+`/g, (code) => ' '.repeat(code.length))
  const forms = [
    /\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g,
    /^\[[^\]]+\]:\s*(\S+)/gm,
    /(?:href|src)="([^"]+)"/g,
  ]
  for (const form of forms) {
    for (const match of withoutCode.matchAll(form)) {
      const [, target = ''] = match
      if (!/^[a-z][a-z0-9+.-]*:/i.test(target) || target.startsWith(PUBLISHED))
        yield { index: match.index, target }
    }
  }
}

/**
 * @param {string} from
 * @param {string} target
 */
function linkProblem(from, target) {
  const published = target.startsWith(PUBLISHED)
  const [path = '', anchor] = (published ? target.slice(PUBLISHED.length) : target).split('#')
  const file = path === '' ? from : normalize(join(published ? '' : dirname(from), decodeURI(path)))
  if (file.startsWith('..')) return `the link ${target} leaves the repository`
  if (!existsSync(join(root, file))) return `the link ${target} leads to no file`
  if (anchor === undefined || !file.endsWith('.md') || !statSync(join(root, file)).isFile()) return undefined
  const known = anchors(readFileSync(join(root, file), 'utf8'))
  return known.has(anchor) ? undefined : `${file} has no heading for #${anchor}`
}

/**
 * The anchors that GitHub gives to headings.
 * @param {string} text
 */
function anchors(text) {
  const withoutBlocks = text.replace(/^(```|~~~)[\s\S]*?^\1/gm, '')
  /** @type {Set<string>} */
  const found = new Set()
  for (const [, heading = ''] of withoutBlocks.matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    let name = slug
    for (let count = 1; found.has(name); count += 1) name = `${slug}-${count}`
    found.add(name)
  }
  return found
}

/**
 * @param {string} text
 * @param {number} index
 */
function lineOf(text, index) {
  return text.slice(0, index).split('\n').length
}
