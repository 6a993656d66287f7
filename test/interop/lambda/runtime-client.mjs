import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, run } from '../../bin/command.mjs'

/** npm `aws-lambda-ric` (Apache-2.0, AWS): the last line that runs on Node 20. */
const VERSION = '3.3.0'
const TOOLS = ['cmake', 'autoconf', 'automake', 'libtoolize', 'make', 'g++']

/**
 * AWS's own runtime client, outside of the workspace and of the tracked tree, made at the first use. Its install compiles
 * curl and a native module, which takes three to five minutes.
 * @param {(line: string) => void} print
 * @returns {Promise<string | undefined>} its program; undefined where it can't be built, which was printed
 */
export async function runtimeClient(print) {
  const folder = join(root, 'node_modules/.cache/interop', `aws-lambda-ric-${VERSION}`)
  const program = join(folder, 'node_modules/aws-lambda-ric/bin/index.mjs')
  if (existsSync(join(folder, 'ready'))) return program
  const missing = await lacking()
  if (missing.length > 0) {
    print(`        aws-lambda-ric can't be built: ${missing.join(', ')} missing. On Debian, as root:`)
    print('        apt-get install -y cmake autoconf automake libtool make g++')
    return undefined
  }
  print('        building aws-lambda-ric, three to five minutes; only the first time')
  const making = `${folder}.making`
  rmSync(making, { recursive: true, force: true })
  mkdirSync(making, { recursive: true })
  writeFileSync(join(making, 'package.json'), '{ "private": true }\n')
  const install = [
    'install',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts=false',
    `aws-lambda-ric@${VERSION}`,
  ]
  const { code, output } = await run('npm', install, { cwd: making })
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
    TOOLS.map(async (tool) => ({ tool, ...(await run('which', [tool]).catch(() => ({ code: 1 }))) })),
  )
  return tried.filter(({ code }) => code !== 0).map(({ tool }) => tool)
}
