import { isJsonObject, type JsonSchema, RunbridgeError } from '@runbridge/core'
import { compileSchema } from '@runbridge/server'
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, Scalar } from 'yaml'
import type { CompiledConfig } from './compiled.js'

/**
 * The text of a `runbridge.yaml` as JSON for `lambda`. Throws `misconfigured` where it is not YAML, and where the `input` or
 * `output` of a tool is no JSON Schema; the configuration's own schema and the rules are for who reads it, since they see
 * what the environment gives.
 */
export function compileConfig(text: string): CompiledConfig {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter, prettyErrors: false, uniqueKeys: true })
  const [error] = document.errors
  if (error) {
    const { line } = lineCounter.linePos(error.pos[0])
    throw new RunbridgeError(
      'misconfigured',
      `Line ${line} of the configuration is not YAML: ${error.message}`,
    )
  }
  const value: unknown = document.toJS() ?? {}
  return {
    value,
    unquoted: unquotedIn(document, document.contents, []),
    schemasChecked: schemasIn(value).every(checked),
  }
}

function schemasIn(value: unknown): (readonly [where: string, schema: JsonSchema])[] {
  const tools = isJsonObject(value) && Array.isArray(value.tools) ? value.tools : []
  return tools.filter(isJsonObject).flatMap((tool, index) =>
    (['input', 'output'] as const).flatMap((key) => {
      const schema = tool[key]
      return isJsonObject(schema) ? [[`tools[${index}].${key}`, schema] as const] : []
    }),
  )
}

/** False where it depends on the environment. */
function checked([where, schema]: readonly [where: string, schema: JsonSchema]): boolean {
  if (JSON.stringify(schema).includes('${')) return false
  compileSchema(schema, where)
  return true
}

function unquotedIn(document: Document, node: unknown, path: (string | number)[]): (string | number)[][] {
  if (isAlias(node)) return unquotedIn(document, node.resolve(document), path)
  if (isMap(node)) {
    return node.items.flatMap(({ key, value }) =>
      unquotedIn(document, value, [...path, String(isScalar(key) ? key.value : key)]),
    )
  }
  if (isSeq(node)) return node.items.flatMap((item, index) => unquotedIn(document, item, [...path, index]))
  const refers = isScalar(node) && typeof node.value === 'string' && node.value.includes('${')
  return refers && node.type === Scalar.PLAIN ? [path] : []
}
