import type { Document, Node } from 'yaml'
import { checkValue } from './check-value.js'
import { type Environment, substituteEnvironment } from './environment.js'
import { type Problem, pathText } from './problems.js'
import type { Config } from './schema.js'
import type { Yaml } from './yaml.js'

export interface ConfigProblem {
  /** From 1. */
  readonly line: number
  readonly column: number
  /** `tools[0].holdMs`; absent where the file is not YAML. */
  readonly path?: string
  readonly message: string
}

export type ConfigResult =
  | { readonly ok: true; readonly config: Config }
  /** All problems of the file, in the order of the file. */
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] }

/** Reads the text of a `runbridge.yaml`: YAML 1.2, then the environment, then the schema and the rules. */
export function parseConfigWith(yaml: Yaml, text: string, env: Environment): ConfigResult {
  const lines = new yaml.LineCounter()
  const document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  if (document.errors.length > 0) {
    return failed(document.errors.map((error) => ({ ...at(error.pos[0]), message: error.message })))
  }
  const unresolved = substituteEnvironment(yaml, document, env)
  let written: unknown
  try {
    written = document.toJS() ?? {}
  } catch {
    // The parser's guard against a few lines that stand for millions.
    return failed([{ line: 1, column: 1, message: 'has too many references (`*name`); write them out' }])
  }
  const { config, problems: found } = checkValue(written)
  const problems = [...unresolved, ...withoutThoseAt(unresolved, found)].map((problem) => ({
    ...at(offsetOf(yaml, document, problem)),
    path: pathText(problem.path),
    message: problem.message,
  }))
  return config && problems.length === 0 ? { ok: true, config } : failed(problems)
}

export function problemList(file: string, problems: readonly ConfigProblem[]): string {
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`
  const entries = problems.map(({ line, column, path, message }) => {
    const where = path === undefined ? '' : `${path}: `
    return `  ${file}:${line}:${column}  ${where}${message}`
  })
  return [`${file} has ${count}:`, ...entries].join('\n')
}

function failed(problems: ConfigProblem[]): ConfigResult {
  return { ok: false, problems: problems.sort((a, b) => a.line - b.line || a.column - b.column) }
}

/** A value whose reference could not be resolved is wrong once, not twice. */
function withoutThoseAt(unresolved: readonly Problem[], problems: readonly Problem[]): Problem[] {
  const paths = new Set(unresolved.map(({ path }) => pathText(path)))
  return problems.filter(({ path }) => !paths.has(pathText(path)))
}

/** Where the path is in the file, or the closest part of it that is there. */
function offsetOf({ isMap, isNode, isScalar }: Yaml, document: Document, problem: Problem): number {
  const path = [...problem.path]
  if (problem.atKey) {
    const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
    const pair = isMap(parent)
      ? parent.items.find(({ key }) => isScalar(key) && String(key.value) === path.at(-1))
      : undefined
    if (isNode(pair?.key)) return start(pair.key)
  }
  for (; path.length > 0; path.pop()) {
    const node = document.getIn(path, true)
    if (isNode(node)) return start(node)
  }
  return isNode(document.contents) ? start(document.contents) : 0
}

function start(node: Node): number {
  return node.range?.[0] ?? 0
}
