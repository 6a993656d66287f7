import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../bin/command.mjs'

/** @typedef {{ path: string, text: string }} Page a page by its path from the repository's root */

/** Everything that is written for readers: the README, CONTRIBUTING, docs and what the packages say of themselves. */
export function pages() {
  const inFolder = (/** @type {string} */ folder) =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
          .filter((file) => file.endsWith('.md'))
          .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
      : []
  const ofPackages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}/README.md`)
  return [
    'README.md',
    'CONTRIBUTING.md',
    ...inFolder('docs').sort(),
    ...inFolder('examples').sort(),
    ...ofPackages,
  ]
    .filter((path) => existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}
