// Builds every package's dist: `build.mjs` JavaScript and declarations, `build.mjs --js` JavaScript alone.
// Two builds at once don't break each other or a process that runs from dist: one builds, the other waits and
// finds it done; files are replaced one by one by rename, so that no moment has a half or missing file.
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build as bundle } from 'tsdown'
import { root } from './command.mjs'

const cache = join(root, 'node_modules/.cache/runbridge')
const stampFile = join(cache, 'build.json')
const lock = join(cache, 'build.lock')
/** Beside dist and as deep, so that the paths in source maps are right after the move. */
const STAGING = '.build'

/**
 * @param {{ declarations: boolean }} options
 * @returns {Promise<{ built: boolean, packages: number, files: number, seconds: number }>}
 */
export async function build({ declarations }) {
  const started = performance.now()
  mkdirSync(cache, { recursive: true })
  const packages = workspaces()
  const done = (/** @type {boolean} */ built, /** @type {Stamp} */ stamp) => ({
    built,
    packages: packages.length,
    files: stamp.files.length,
    seconds: (performance.now() - started) / 1000,
  })

  const present = upToDate(packages, declarations)
  if (present) return done(false, present)
  await acquire()
  try {
    const meanwhile = upToDate(packages, declarations)
    if (meanwhile) return done(false, meanwhile)
    return done(true, await buildNow(packages, declarations))
  } finally {
    rmSync(lock, { force: true })
  }
}

/**
 * What the last build was made of and what it made.
 * @typedef {{ digest: string, declarations: boolean, files: string[] }} Stamp
 */

/**
 * @param {string[]} packages
 * @param {boolean} declarations
 * @returns {Promise<Stamp>}
 */
async function buildNow(packages, declarations) {
  const digest = sourceDigest(packages)
  try {
    await Promise.all(packages.map((folder) => bundle(config(folder, declarations))))
  } catch (error) {
    for (const folder of packages) rmSync(join(folder, STAGING), { recursive: true, force: true })
    throw new Error(`tsdown could not build the packages: ${error instanceof Error ? error.message : error}`)
  }
  /** @type {string[]} */
  const files = []
  for (const folder of packages) files.push(...install(folder, declarations))
  const stamp = { digest, declarations, files }
  const temporary = `${stampFile}.${process.pid}`
  writeFileSync(temporary, JSON.stringify(stamp))
  renameSync(temporary, stampFile)
  return stamp
}

/**
 * One file a module, ESM for the oldest Node.js that the package takes, for whatever it exports and runs. Dependencies
 * and the other packages stay imports, in JavaScript and in declarations.
 * @param {string} folder
 * @param {boolean} declarations
 * @returns {import('tsdown').InlineConfig}
 */
function config(folder, declarations) {
  const { exports, bin } = manifest(folder)
  const targets = [...Object.values(exports).map((target) => target.default), ...Object.values(bin ?? {})]
  return {
    config: false,
    cwd: folder,
    entry: targets
      .filter((target) => target !== undefined)
      .map((target) => target.replace('./dist/', 'src/').replace(/\.js$/, '.ts')),
    root: 'src',
    outDir: STAGING,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    fixedExtension: false,
    unbundle: true,
    sourcemap: true,
    dts: declarations,
    deps: { skipNodeModulesBundle: true },
    report: false,
    logLevel: 'error',
  }
}

/**
 * @param {string} folder
 * @returns {{ exports: Record<string, { default?: string }>, bin?: Record<string, string> }}
 */
function manifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/**
 * Moves what was built into dist and removes what no source makes any more. A build of JavaScript alone leaves
 * declarations alone; the stamp knows that they are stale.
 * @param {string} folder
 * @param {boolean} declarations
 */
function install(folder, declarations) {
  const staging = join(folder, STAGING)
  const dist = join(folder, 'dist')
  const built = filesBelow(staging)
  for (const file of built) {
    const target = join(dist, file)
    mkdirSync(dirname(target), { recursive: true })
    renameSync(join(staging, file), target)
  }
  rmSync(staging, { recursive: true, force: true })
  for (const file of filesBelow(dist)) {
    const ours = declarations || !/\.d\.ts(\.map)?$/.test(file)
    if (ours && !built.includes(file)) rmSync(join(dist, file))
  }
  for (const command of Object.values(manifest(folder).bin ?? {})) chmodSync(join(folder, command), 0o755)
  return built.map((file) => join(dist, file))
}

/**
 * @param {string[]} packages
 * @param {boolean} declarations
 * @returns {Stamp | undefined}
 */
function upToDate(packages, declarations) {
  if (!existsSync(stampFile)) return undefined
  /** @type {Stamp} */
  const stamp = JSON.parse(readFileSync(stampFile, 'utf8'))
  const current =
    (stamp.declarations || !declarations) &&
    stamp.digest === sourceDigest(packages) &&
    stamp.files.every((file) => existsSync(file))
  return current ? stamp : undefined
}

/** @param {string[]} packages */
function sourceDigest(packages) {
  const hash = createHash('sha256')
  const shared = ['test/bin/build.mjs', 'tsconfig.base.json', 'package-lock.json']
  const sources = packages.flatMap((folder) => [
    ...['package.json', 'tsconfig.json'].map((file) => join(folder, file)),
    ...filesBelow(join(folder, 'src'))
      .filter((file) => !file.endsWith('.test.ts'))
      .map((file) => join(folder, 'src', file)),
  ])
  for (const file of [...shared.map((name) => join(root, name)), ...sources]) {
    hash.update(`${file}\0`).update(readFileSync(file)).update('\0')
  }
  return hash.digest('hex')
}

function workspaces() {
  return readdirSync(join(root, 'packages'))
    .map((name) => join(root, 'packages', name))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .sort()
}

/**
 * @param {string} folder
 * @returns {string[]} relative paths, sorted
 */
function filesBelow(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
}

/** Waits for the lock; takes over one whose process is gone. */
async function acquire() {
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' })
      return
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    const pid = existsSync(lock) ? Number(readFileSync(lock, 'utf8')) : 0
    if (pid > 0 && !isAlive(pid)) rmSync(lock, { force: true })
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    const { built, packages, files, seconds } = await build({ declarations: !process.argv.includes('--js') })
    const what = built ? `${packages} packages, ${files} files in ${seconds.toFixed(1)} s` : 'up to date'
    console.error(`build: ${what}`)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
