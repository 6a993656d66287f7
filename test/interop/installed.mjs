import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root, run } from '../bin/command.mjs'

/** @param {string} command @param {readonly string[]} args */
export async function succeed(command, args) {
  const { code, output } = await run(command, args)
  if (code !== 0) throw new Error(`\`${command} ${args.join(' ')}\` failed: ${output.trim().slice(-500)}`)
}

/**
 * A folder outside of the tracked tree that is filled at the first use: what is tried here is no dependency.
 * @param {string} name @param {(folder: string) => Promise<void>} fill
 * @returns {Promise<string>}
 */
export async function installed(name, fill) {
  const folder = join(root, 'node_modules/.cache/interop', name)
  const ready = join(folder, 'ready')
  if (existsSync(ready)) return folder
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  await fill(folder)
  mkdirSync(ready)
  return folder
}

/**
 * A virtual environment of Python with packages of PyPI.
 * @param {readonly string[]} packages @returns {Promise<{ folder: string, python: string }>}
 */
export async function installedPython(...packages) {
  const folder = await installed(packages.join('-'), async (made) => {
    await succeed('python3', ['-m', 'venv', made])
    await succeed(join(made, 'bin/python'), ['-m', 'pip', 'install', '--quiet', ...packages])
  })
  return { folder, python: join(folder, 'bin/python') }
}
