import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  coreFloor,
  coreMayImport,
  INFRA_MAY_IMPORT,
  isDemo,
  MAY_IMPORT,
  RUNNERS,
  SERVICE_PORT,
  STANDS_ON,
} from './directions.mjs'
import {
  importsOf,
  manifest,
  packageFolders,
  packageOf,
  place,
  publishedSources,
  resolved,
  root,
  type Source,
  sources,
} from './sources.js'

const folders = packageFolders()
const manifests = folders.map(manifest)
const ours = new Map(manifests.map(({ name, folder }) => [name, folder]))
const all = folders.flatMap(publishedSources)
const withTests = folders.flatMap(sources)

interface Edge {
  readonly source: Source
  readonly specifier: string
  readonly typeOnly: boolean
  readonly namespace: boolean
  readonly line: number
}
const edges = (of: readonly Source[]): Edge[] =>
  of.flatMap((source) => source.imports.map((found) => ({ source, ...found })))
const isRelative = ({ specifier }: { specifier: string }) => specifier.startsWith('.')
const isBuiltin = ({ specifier }: { specifier: string }) => specifier.startsWith('node:')
const isOurs = ({ specifier }: { specifier: string }) => ours.has(packageOf(specifier))
const shown = ({ source, line, specifier }: Edge) => `${place(source, line)} imports ${specifier}`

/** What is no package: each file that is ours, with its imports. */
function filesOf(folder: string) {
  const files = ['src', 'lambda'].flatMap((part) =>
    readdirSync(join(root, folder, part), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(folder, part, file)),
  )
  return files.map((file) => ({ file, imports: importsOf(readFileSync(join(root, file), 'utf8')) }))
}

test('the reader of imports finds every kind of import', () => {
  const text = [
    "import a from 'a'",
    "import type { B } from 'b'",
    "import { type C } from 'c'",
    "import * as d from 'd'",
    "export * from 'e'",
    "export type { F } from 'f'",
    "const g = await import('g')",
    "type H = import('h').H",
    "import 'i'",
    "const text = \"import 'not-one'\" // import 'nor-this'",
  ].join('\n')
  const found = importsOf(text)
  expect(found.map(({ specifier }) => specifier)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'])
  expect(found.filter(({ typeOnly }) => typeOnly).map(({ specifier }) => specifier)).toEqual([
    'b',
    'c',
    'f',
    'h',
  ])
  expect(found.filter(({ namespace }) => namespace).map(({ specifier }) => specifier)).toEqual(['d'])
})

test('there are sources of every package to read, and every package has its rules', () => {
  for (const folder of folders) expect(publishedSources(folder), folder).not.toEqual([])
  expect(Object.keys(MAY_IMPORT).sort()).toEqual(folders)
  expect(Object.keys(STANDS_ON).sort()).toEqual(folders)
})

describe('between packages', () => {
  test('a package imports only the packages below it', () => {
    const wrong = edges(all)
      .filter(isOurs)
      .filter(({ source, specifier }) => {
        const target = ours.get(packageOf(specifier)) ?? ''
        return !MAY_IMPORT[source.pkg]?.includes(target)
      })
    expect(wrong.map(shown)).toEqual([])
  })

  test('infra imports what it joins on Lambda, and nothing imports infra', () => {
    const wrong = filesOf('infra').flatMap(({ file, imports }) =>
      imports
        .map(({ specifier }) => ours.get(packageOf(specifier)))
        .filter((target) => target !== undefined && !INFRA_MAY_IMPORT.includes(target))
        .map((target) => `${file} imports ${target}`),
    )
    expect(wrong).toEqual([])
    expect(
      edges(withTests)
        .filter(({ specifier }) => /infra/.test(specifier))
        .map(shown),
    ).toEqual([])
  })

  test('nothing but the demo imports the emulators', () => {
    const wrong = edges(all).filter(
      (edge) => ours.get(packageOf(edge.specifier)) === 'emulators' && !isDemo(edge.source),
    )
    expect(wrong.map(shown)).toEqual([])
  })

  test('a package imports only the libraries that it stands on', () => {
    const wrong = edges(all)
      .filter((edge) => !isRelative(edge) && !isBuiltin(edge) && !isOurs(edge))
      .filter(({ source, specifier }) => !STANDS_ON[source.pkg]?.includes(packageOf(specifier)))
    expect(wrong.map(shown)).toEqual([])
  })

  test('a manifest names only libraries that the package may stand on', () => {
    const wrong = manifests.flatMap(({ folder, dependencies }) =>
      dependencies
        .filter((name) => !ours.has(name) && !STANDS_ON[folder]?.includes(name))
        .map((name) => `packages/${folder}/package.json names ${name}`),
    )
    expect(wrong).toEqual([])
  })

  test('relative imports stay in their package, end in .js and lead to a file', () => {
    const wrong = edges(withTests)
      .filter(isRelative)
      .filter(
        ({ source, specifier }) => !/\.js(on)?$/.test(specifier) || resolved(source, specifier) === undefined,
      )
    expect(wrong.map(shown)).toEqual([])
  })

  test('zod is imported as a namespace, since named imports add 350 kB of locales to a bundle', () => {
    const wrong = edges(withTests).filter(
      ({ specifier, namespace, typeOnly }) => specifier === 'zod' && !namespace && !typeOnly,
    )
    expect(wrong.map(shown)).toEqual([])
  })
})

describe('inside core', () => {
  const inside = edges(publishedSources('core'))
    .filter(isRelative)
    .flatMap((edge) => {
      const target = resolved(edge.source, edge.specifier)
      return target === undefined
        ? []
        : [{ ...edge, target, from: coreFloor(edge.source.file), to: coreFloor(target) }]
    })

  test('wire forms import the domain, never each other; the domain imports no service and no wire form', () => {
    const wrong = inside.filter(
      ({ from, to, target, typeOnly }) => !coreMayImport(from, to) && !(typeOnly && target === SERVICE_PORT),
    )
    expect(wrong.map(shown)).toEqual([])
  })

  test('the port of the task service is shapes alone', () => {
    expect(
      inside.filter(({ source, typeOnly }) => source.file === SERVICE_PORT && !typeOnly).map(shown),
    ).toEqual([])
  })

  test('nothing that is published imports a test runner, the suites for backends and stores included', () => {
    const wrong = edges(all).filter(
      ({ specifier }) => RUNNERS.includes(specifier) || RUNNERS.includes(packageOf(specifier)),
    )
    expect(wrong.map(shown)).toEqual([])
  })
})

// The emulators hold an interpreter, and a Map state runs states: that circle is the subject itself.
test('no file reaches itself by imports that are left in the JavaScript', () => {
  const next = new Map(
    all
      .filter(({ pkg }) => pkg !== 'emulators')
      .map((source) => [
        `${source.pkg}/${source.file}`,
        source.imports
          .filter((found) => isRelative(found) && !found.typeOnly)
          .flatMap(({ specifier }) => resolved(source, specifier) ?? [])
          .map((file) => `${source.pkg}/${file}`),
      ]),
  )
  const circles: string[] = []
  const done = new Set<string>()
  const walk = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
    if (done.has(file) || path.includes(file)) return
    for (const target of next.get(file) ?? []) walk(target, [...path, file])
    done.add(file)
  }
  for (const file of next.keys()) walk(file, [])
  expect(circles).toEqual([])
})
