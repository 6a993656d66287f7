import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root, run } from '../../bin/command.mjs'

/** npm `aws-lambda-ric` (Apache-2.0, AWS): the last line that runs on Node 20. */
const VERSION = '3.3.0'
/** What its install calls, and the package of Debian that has it. */
const TOOLS = /** @type {const} */ ({
  cmake: 'cmake',
  autoconf: 'autoconf',
  automake: 'automake',
  libtoolize: 'libtool',
  make: 'make',
  'g++': 'g++',
  python3: 'python3',
})
/** @typedef {keyof typeof TOOLS} Tool */

/**
 * AWS's own runtime client, outside of the workspace and of the tracked tree, made at the first use. Its install compiles
 * curl and a native module, which takes three to five minutes; the tools for it are installed where they are missing
 * and that may be done.
 * @param {(line: string) => void} print
 * @returns {Promise<string | undefined>} its program; undefined where it can't be built, which was printed
 */
export async function runtimeClient(print) {
  const folder = join(root, 'node_modules/.cache/interop', `aws-lambda-ric-${VERSION}`)
  const program = join(folder, 'node_modules/aws-lambda-ric/bin/index.mjs')
  if (existsSync(join(folder, 'ready'))) return program
  const missing = await broughtBy(print, await lacking())
  if (missing.length > 0) {
    print(`        aws-lambda-ric can't be built: ${missing.join(', ')} missing. On Debian, as root:`)
    print(`        apt-get install -y ${packagesOf(missing)}`)
    return undefined
  }
  print('        building aws-lambda-ric, three to five minutes; only the first time')
  const making = `${folder}.${process.pid}`
  rmSync(making, { recursive: true, force: true })
  mkdirSync(making, { recursive: true })
  // npm 11 runs the scripts of those alone that are named; older ones look at the option.
  const manifest = { private: true, allowScripts: { 'aws-lambda-ric': true } }
  writeFileSync(join(making, 'package.json'), JSON.stringify(manifest))
  const install = [
    'install',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts=false',
    `aws-lambda-ric@${VERSION}`,
  ]
  // node-gyp downloads the headers of Node.js where it is not told that they are there.
  const prefix = dirname(dirname(process.execPath))
  const env = existsSync(join(prefix, 'include/node/node.h')) ? { npm_config_nodedir: prefix } : {}
  const { code, output } = await run('npm', install, { cwd: making, env })
  const native = join(making, 'node_modules/aws-lambda-ric/dist/rapid-client.node')
  if (code !== 0 || !existsSync(native))
    throw new Error(`aws-lambda-ric could not be built: ${output.trim().slice(-800)}`)
  rmSync(folder, { recursive: true, force: true })
  renameSync(making, folder)
  mkdirSync(join(folder, 'ready'))
  return program
}

async function lacking() {
  const tried = await Promise.all(
    /** @type {Tool[]} */ (Object.keys(TOOLS)).map(async (tool) => ({ tool, there: await has(tool) })),
  )
  return tried.flatMap(({ tool, there }) => (there ? [] : [tool]))
}

/** @param {string} tool */
async function has(tool) {
  return (await run('which', [tool]).catch(() => ({ code: 1 }))).code === 0
}

/** @param {readonly Tool[]} tools */
const packagesOf = (tools) => tools.map((tool) => TOOLS[tool]).join(' ')

/**
 * What is still missing after it was installed, where this is root on a Debian.
 * @param {(line: string) => void} print @param {readonly Tool[]} missing
 */
async function broughtBy(print, missing) {
  if (missing.length === 0 || process.getuid?.() !== 0 || !(await has('apt-get'))) return missing
  const packages = packagesOf(missing)
  print(`        installing ${packages}, to build aws-lambda-ric`)
  const install = `apt-get update -qq && apt-get install -qq -y --no-install-recommends ${packages}`
  const { code, output } = await run('sh', ['-c', install], { env: { DEBIAN_FRONTEND: 'noninteractive' } })
  if (code !== 0) print(`        apt-get failed: ${output.trim().split('\n').at(-1)}`)
  return lacking()
}
