// `npm run check [-- --json]`: format, lint, types, unused code, build, shape of the packages, changesets.
// Every stage runs, also after one failed, so that one run shows all there is to repair.
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from './build.mjs'
import { bin, root, run } from './command.mjs'

/**
 * @typedef {{ ok: boolean, output: string }} Outcome
 * @typedef {{ name: string, run: () => Promise<Outcome> }} Stage
 */

const packed = mkdtempSync(join(tmpdir(), 'runbridge-check-'))

/** @type {readonly Stage[]} */
const stages = [
  { name: 'format and lint (biome)', run: () => command('biome', ['ci', '--colors=off', '.']) },
  { name: 'types (tsc)', run: () => command('tsc', ['-b', '--pretty', 'false']) },
  {
    name: 'unused code (knip)',
    run: () => command('knip', ['--no-progress', '--treat-config-hints-as-errors']),
  },
  { name: 'build (tsdown)', run: buildAndPack },
  { name: 'package shape (publint)', run: () => eachTarball('publint', (file) => ['run', file, '--strict']) },
  {
    name: 'types as installed (attw)',
    run: () =>
      eachTarball('attw', (file) => [
        file,
        '--profile',
        'esm-only',
        '--no-definitely-typed',
        '--no-color',
        '--format',
        'ascii',
      ]),
  },
  { name: 'changesets', run: changesets },
]

/**
 * @param {string} name
 * @param {readonly string[]} args
 * @returns {Promise<Outcome>}
 */
async function command(name, args) {
  const { code, output } = await run(bin(name), args)
  return { ok: code === 0, output }
}

/** What is published is what is checked: the tarballs, not the folders. */
async function buildAndPack() {
  await build({ declarations: true })
  const packages = readdirSync(join(root, 'packages')).filter((name) =>
    existsSync(join(root, 'packages', name, 'package.json')),
  )
  const { code, output } = await run('npm', [
    'pack',
    '--ignore-scripts',
    '--pack-destination',
    packed,
    ...packages.map((name) => `--workspace=packages/${name}`),
  ])
  return { ok: code === 0, output }
}

/**
 * @param {string} name
 * @param {(file: string) => readonly string[]} args
 * @returns {Promise<Outcome>}
 */
async function eachTarball(name, args) {
  const tarballs = readdirSync(packed).filter((file) => file.endsWith('.tgz'))
  if (tarballs.length === 0) return { ok: false, output: 'Nothing was packed: the build failed.' }
  const failed = []
  for (const tarball of tarballs) {
    const { ok, output } = await command(name, args(join(packed, tarball)))
    if (!ok) failed.push(`${tarball}\n${output.trim()}`)
  }
  return { ok: failed.length === 0, output: failed.join('\n\n') }
}

/** Packages that changed since the base branch need a changeset; on the base branch itself nothing has. */
async function changesets() {
  for (const base of ['main', 'origin/main', 'HEAD']) {
    const known = await run('git', ['rev-parse', '--verify', '--quiet', `${base}^{commit}`])
    if (known.code === 0) return command('changeset', ['status', '--since', base])
  }
  return { ok: true, output: 'Not a git checkout: nothing to compare with.' }
}

const json = process.argv.includes('--json')
/** @type {{ name: string, ok: boolean, seconds: number, output?: string }[]} */
const results = []
try {
  for (const stage of stages) {
    const started = performance.now()
    /** @type {Outcome} */
    let outcome
    try {
      outcome = await stage.run()
    } catch (error) {
      outcome = { ok: false, output: error instanceof Error ? error.message : String(error) }
    }
    const seconds = Number(((performance.now() - started) / 1000).toFixed(1))
    results.push({
      name: stage.name,
      ok: outcome.ok,
      seconds,
      ...(outcome.ok ? {} : { output: outcome.output }),
    })
    if (json) continue
    console.log(
      `${outcome.ok ? 'ok    ' : 'FAILED'} ${stage.name.padEnd(28)} ${seconds.toFixed(1).padStart(6)} s`,
    )
    if (!outcome.ok) console.log(`${outcome.output.trim()}\n`)
  }
} finally {
  rmSync(packed, { recursive: true, force: true })
}

const failed = results.filter((result) => !result.ok).length
if (json) console.log(JSON.stringify({ passed: results.length - failed, failed, stages: results }, null, 2))
else console.log(`check: ${results.length - failed} stages passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
