import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Manifest, manifest, packageFolders, root } from './sources.js'

/** What each folder publishes, as `*` patterns below its `src`: each file that fits is a subpath, and no other. */
const PUBLISHES: Readonly<Record<string, readonly string[]>> = {
  core: ['index.ts', 'wire/*/index.ts', 'testing/index.ts'],
  stores: ['*.ts'],
  'step-functions': ['index.ts'],
  'google-workflows': ['index.ts'],
  'github-actions': ['index.ts'],
  server: ['index.ts', 'lambda.ts', 'sdk-v1.ts', 'sdk-v2.ts'],
  emulators: ['*/index.ts'],
  cli: ['index.ts', 'lambda.ts'],
}

const manifests = packageFolders().map(manifest)
const paths: Record<string, readonly string[]> = JSON.parse(
  readFileSync(join(root, 'tsconfig.base.json'), 'utf8'),
).compilerOptions.paths

test('every package says what it publishes', () => {
  expect(Object.keys(PUBLISHES).sort()).toEqual(manifests.map(({ folder }) => folder))
})

test.each(manifests)('$name exports what its folder holds, and nothing else', (found) => {
  const expected = published(found.folder).map((file) => `./dist/${file.replace(/\.ts$/, '.js')}`)
  expect(subpaths(found).map(([, target]) => target.default)).toEqual(expect.arrayContaining(expected))
  expect(subpaths(found)).toHaveLength(expected.length)
})

test.each(manifests)('$name carries the licence and a page of its own', ({ folder }) => {
  const text = (path: string) => readFileSync(join(root, path), 'utf8')
  expect(text(`packages/${folder}/LICENSE`)).toBe(text('LICENSE'))
  expect(text(`packages/${folder}/README.md`).startsWith(`# ${manifest(folder).name}\n`)).toBe(true)
})

test.each(manifests)('$name names its subpaths after its files and gives types for each', (found) => {
  for (const [subpath, target] of subpaths(found)) {
    expect(target.types, subpath).toBe(target.default.replace(/\.js$/, '.d.ts'))
    const file = target.default.slice('./dist/'.length).replace(/(^|\/)index\.js$|\.js$/, '')
    expect(subpath).toBe(file === '' ? '.' : `./${file}`)
  }
  expect(found.exports['./package.json']).toBe('./package.json')
})

test.each(manifests)('$name is known to the type checker under every name that it exports', (found) => {
  for (const [subpath, target] of subpaths(found)) {
    const source = target.default
      .replace('./dist/', `./packages/${found.folder}/src/`)
      .replace(/\.js$/, '.ts')
    expect(sourceOf(found.name + subpath.slice(1))).toBe(source)
    expect(existsSync(join(root, source)), source).toBe(true)
  }
})

function subpaths(of: Manifest) {
  return Object.entries(of.exports).flatMap(([subpath, target]) =>
    typeof target === 'string' ? [] : [[subpath, target] as const],
  )
}

function published(folder: string): string[] {
  const patterns =
    PUBLISHES[folder]?.map((pattern) => new RegExp(`^${pattern.replaceAll('*', '[^/]+')}$`)) ?? []
  return readdirSync(join(root, 'packages', folder, 'src'), { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !file.endsWith('.test.ts') && patterns.some((pattern) => pattern.test(file)))
    .sort()
}

/** Where `paths` of tsconfig.base.json lead an import. */
function sourceOf(name: string): string | undefined {
  for (const [pattern, [target = '']] of Object.entries(paths)) {
    const match = new RegExp(`^${pattern.replace('*', '(.+)')}$`).exec(name)
    if (match) return target.replace('*', match[1] ?? '')
  }
  return undefined
}
