import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { root, run } from './command.mjs'

const cache = join(root, 'node_modules/.cache/runbridge/node22')

/**
 * A Node.js 22 or newer, which the conformance suite needs (`fs.globSync`) and which functions on Lambda run on; the
 * product itself runs on 20. The running one where it is new enough, else the binary of npm's platform package, kept in a cache folder beside the
 * lock file's own modules.
 * @returns {Promise<string>} path of the executable
 */
export async function node22() {
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath
  const name = `node-${process.platform}-${process.arch}`
  const windows = process.platform === 'win32'
  const binary = join(cache, 'node_modules', name, 'bin', windows ? 'node.exe' : 'node')
  if (!(await works(binary))) {
    mkdirSync(cache, { recursive: true })
    const args = [
      'install',
      `${name}@22`,
      '--prefix',
      cache,
      '--no-save',
      '--no-package-lock',
      '--ignore-scripts',
    ]
    const installed = await run(windows ? 'npm.cmd' : 'npm', args, { cwd: cache })
    if (installed.code !== 0 || !(await works(binary))) {
      throw new Error(
        `Node.js 22 is needed for this, which runs on ${process.version}, and npm could not bring ${name}@22. ` +
          `Run it with a newer Node.js, or install that package into ${cache}. npm said:\n${installed.output.trim()}`,
      )
    }
  }
  return binary
}

/** @param {string} binary */
async function works(binary) {
  if (!existsSync(binary)) return false
  const probe = "if (typeof require('fs').globSync !== 'function') process.exit(1)"
  const { code } = await run(binary, ['-e', probe]).catch(() => ({ code: 1 }))
  return code === 0
}
