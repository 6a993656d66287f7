import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, run } from '../../bin/command.mjs'

/** GitHub's own description of its API (0.4 GB) and example deliveries of its webhooks. Nothing of them is kept here. */
const PACKAGES = { '@octokit/openapi': '23.0.2', '@octokit/webhooks-examples': '7.6.1' }

const folder = join(root, 'node_modules/.cache/runbridge/github')
const installed = (/** @type {string} */ name) => join(folder, 'node_modules', name)

/** Installs both into a cache folder outside of the workspace, once. @param {(line: string) => void} print */
export async function download(print) {
  const missing = Object.entries(PACKAGES).filter(
    ([name, version]) =>
      !existsSync(join(installed(name), 'package.json')) || json(name, 'package.json').version !== version,
  )
  if (missing.length === 0) return
  print("        GitHub's description of its API; the first time it is installed (0.4 GB)")
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const packages = Object.entries(PACKAGES).map(([name, version]) => `${name}@${version}`)
  const args = [
    'install',
    ...packages,
    '--prefix',
    folder,
    '--no-save',
    '--no-package-lock',
    '--ignore-scripts',
  ]
  const { code, output } = await run(process.platform === 'win32' ? 'npm.cmd' : 'npm', args, { cwd: folder })
  if (code !== 0) throw new Error(`npm could not install ${packages.join(' and ')}:\n${output.trim()}`)
}

/** @param {string} name @param {string} file @returns {any} */
function json(name, file) {
  return JSON.parse(readFileSync(join(installed(name), file), 'utf8'))
}

/** @param {'api.github.com' | 'ghes-3.19'} version */
export function description(version) {
  return json('@octokit/openapi', `generated/${version}.deref.json`)
}

/** @returns {{ name: string, examples: object[] }[]} */
export function webhookExamples() {
  return json('@octokit/webhooks-examples', 'api.github.com/index.json')
}
