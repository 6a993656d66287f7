import { RunbridgeError } from '@runbridge/core'
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, Scalar } from 'yaml'
import type { CompiledConfig } from './compiled.js'

/**
 * The text of a `runbridge.yaml` as JSON for `lambda`. Throws `misconfigured` where it is not YAML; the schema and the
 * rules are for who reads it, since they see what the environment gives.
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
  return { value: document.toJS() ?? {}, unquoted: unquotedIn(document, document.contents, []) }
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
