import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { RunbridgeError } from '@runbridge/core'
import { type Document, isMap, isNode, isScalar, LineCounter, type Node, parseDocument } from 'yaml'
import { type Environment, substituteEnvironment } from './environment.js'
import { type Problem, pathText, problemsOf } from './problems.js'
import { duplicateNames, toolProblems } from './rules.js'
import { type Config, configSchema, toolSchema } from './schema.js'

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
export function parseConfig(text: string, env: Environment): ConfigResult {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  if (document.errors.length > 0) {
    return failed(document.errors.map((error) => ({ ...at(error.pos[0]), message: error.message })))
  }
  const unresolved = substituteEnvironment(document, env)
  const value: unknown = document.toJS() ?? {}
  const parsed = configSchema.safeParse(value)
  const found = [...(parsed.success ? [] : problemsOf(parsed.error.issues, value)), ...rulesOfTools(value)]
  const problems = [...unresolved, ...withoutThoseAt(unresolved, found)].map((problem) => ({
    ...at(offsetOf(document, problem)),
    path: pathText(problem.path),
    message: problem.message,
  }))
  return parsed.success && problems.length === 0 ? { ok: true, config: parsed.data } : failed(problems)
}

/** Reads the file. Throws a RunbridgeError `misconfigured` that lists every problem, one a line. */
export async function loadConfig(file: string, env: Environment): Promise<Config> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === 'ENOENT' ? 'there is no such file' : cause.message
    throw new RunbridgeError('misconfigured', `${file}: ${why}; name one with --config`, { cause })
  })
  const result = parseConfig(text, env)
  if (!result.ok) throw new RunbridgeError('misconfigured', problemList(file, result.problems))
  return withAbsolutePaths(result.config, dirname(resolve(file)))
}

export function problemList(file: string, problems: readonly ConfigProblem[]): string {
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`
  const entries = problems.map(({ line, column, path, message }) => {
    const where = path === undefined ? '' : `${path}: `
    return `  ${file}:${line}:${column}  ${where}${message}`
  })
  return [`${file} has ${count}:`, ...entries].join('\n')
}

function withAbsolutePaths(config: Config, folder: string): Config {
  const { sqlite } = config.store
  if (sqlite === undefined) return config
  return { ...config, store: { sqlite: { path: resolve(folder, sqlite.path) } } }
}

function failed(problems: ConfigProblem[]): ConfigResult {
  return { ok: false, problems: problems.sort((a, b) => a.line - b.line || a.column - b.column) }
}

/** A value whose reference could not be resolved is wrong once, not twice. */
function withoutThoseAt(unresolved: readonly Problem[], problems: readonly Problem[]): Problem[] {
  const paths = new Set(unresolved.map(({ path }) => pathText(path)))
  return problems.filter(({ path }) => !paths.has(pathText(path)))
}

/** The rules of every tool that has the right shape, so that one wrong tool hides nothing of the others. */
function rulesOfTools(value: unknown): Problem[] {
  const tools: unknown = (value as { tools?: unknown }).tools
  if (!Array.isArray(tools)) return []
  const rules = tools.flatMap((entry: unknown, index) => {
    const tool = toolSchema.safeParse(entry)
    if (!tool.success) return []
    return toolProblems(tool.data).map((problem) => ({ ...problem, path: ['tools', index, ...problem.path] }))
  })
  return [...duplicateNames(tools.map((tool: { name?: unknown } | null) => tool?.name)), ...rules]
}

/** Where the path is in the file, or the closest part of it that is there. */
function offsetOf(document: Document, problem: Problem): number {
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
