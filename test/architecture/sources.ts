import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

export const root = fileURLToPath(new URL('../../', import.meta.url))

export interface Import {
  readonly specifier: string
  /** Nothing of it is left in the JavaScript: `import type`, `export type`, `import('…').T`. */
  readonly typeOnly: boolean
  /** `import * as x`. */
  readonly namespace: boolean
  readonly line: number
}

export interface Source {
  /** Folder of the package: `core`, `step-functions`. */
  readonly pkg: string
  /** Below the package's `src`, with forward slashes. */
  readonly file: string
  readonly imports: readonly Import[]
}

export interface Manifest {
  readonly folder: string
  readonly name: string
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
  readonly bin: Readonly<Record<string, string>>
  readonly dependencies: readonly string[]
}

/** Folders of the packages, as they are on disk. */
export function packageFolders(): string[] {
  return readdirSync(join(root, 'packages'))
    .filter((name) => existsSync(join(root, 'packages', name, 'package.json')))
    .sort()
}

export function manifest(folder: string): Manifest {
  const json = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'))
  return {
    folder,
    name: json.name,
    exports: json.exports,
    bin: json.bin ?? {},
    dependencies: Object.keys({ ...json.dependencies, ...json.peerDependencies }),
  }
}

/** Every TypeScript file below the package's `src`, tests and what only they use included. */
export function sources(pkg: string): Source[] {
  const folder = join(root, 'packages', pkg, 'src')
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort()
    .map((file) => ({ pkg, file, imports: importsOf(readFileSync(join(folder, file), 'utf8')) }))
}

/** The sources that are published: what the package exports and runs, and all that this reaches. */
export function publishedSources(pkg: string): Source[] {
  const all = new Map(sources(pkg).map((source) => [source.file, source]))
  const reached = new Set<Source>()
  const reach = (file: string): void => {
    const source = all.get(file)
    if (!source || reached.has(source)) return
    reached.add(source)
    for (const { specifier } of source.imports) {
      if (specifier.startsWith('.')) reach(resolved(source, specifier) ?? '')
    }
  }
  for (const entry of entries(manifest(pkg))) reach(entry)
  return [...reached]
}

/** The files below `src` that a package exports or runs. */
function entries(of: Manifest): string[] {
  const exported = Object.values(of.exports).flatMap((target) =>
    typeof target === 'string' ? [] : target.default,
  )
  return [...exported, ...Object.values(of.bin)].map((target) =>
    target.replace('./dist/', '').replace(/\.js$/, '.ts'),
  )
}

/** What the text imports, re-exports, loads on demand or names as a type. */
export function importsOf(text: string): Import[] {
  const file = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true)
  const found: Import[] = []
  const add = (specifier: ts.Node, typeOnly: boolean, namespace = false) => {
    if (!ts.isStringLiteralLike(specifier)) return
    const line = file.getLineAndCharacterOfPosition(specifier.getStart()).line + 1
    found.push({ specifier: specifier.text, typeOnly, namespace, line })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      const bindings = node.importClause?.namedBindings
      add(node.moduleSpecifier, isTypeOnly(node), bindings !== undefined && ts.isNamespaceImport(bindings))
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
      add(node.moduleSpecifier, node.isTypeOnly)
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node.argument.literal, true)
    } else if (ts.isCallExpression(node) && node.arguments[0] && loads(node.expression)) {
      add(node.arguments[0], false)
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

function isTypeOnly(node: ts.ImportDeclaration): boolean {
  const clause = node.importClause
  if (!clause) return false
  if (clause.isTypeOnly) return true
  const named = clause.namedBindings
  if (clause.name || !named || !ts.isNamedImports(named)) return false
  return named.elements.length > 0 && named.elements.every((element) => element.isTypeOnly)
}

function loads(callee: ts.Expression): boolean {
  return callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === 'require')
}

/** The file below `src` that a relative import means, or undefined when there is none. */
export function resolved(source: Source, specifier: string): string | undefined {
  const target = posix.join(posix.dirname(source.file), specifier)
  if (target.startsWith('../')) return undefined
  const file = target.endsWith('.json') ? target : target.replace(/\.js$/, '.ts')
  return existsSync(join(root, 'packages', source.pkg, 'src', file)) ? file : undefined
}

/** `@scope/name` or `name` of a bare import. */
export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** `packages/core/src/run.ts:12`, as editors open it. */
export function place(source: Source, line: number): string {
  return `packages/${source.pkg}/src/${source.file}:${line}`
}
