import { canonicalJson, isJsonObject, type Json, type JsonSchema, RunbridgeError } from '@runbridge/core'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'
const NONE = 'is no valid JSON Schema 2020-12'
/** Sentences about one value; more do not help whoever has to mend it. */
const MAX_PROBLEMS = 5
const MAX_CACHED = 500

/**
 * Those of the package, but for one that is in no JSON Schema and whose expression takes the square of a text's length:
 * values come from clients.
 */
const formats = { ...fullFormats, url: isUrl }

function isUrl(text: string): boolean {
  return URL.canParse(text) && /^(https?|ftp):$/.test(new URL(text).protocol)
}

/** Keeps no schema: two of them with the same `$id` know nothing of each other. */
const ajv = new Ajv2020({
  allErrors: true,
  strict: false,
  addUsedSchema: false,
  logger: false,
  meta: false,
  validateSchema: false,
  formats,
})

/** Has the published meta-schemas, which are compiled at its first use: that takes longer than most starts. */
let meta: Ajv2020 | undefined

/** What of the value breaks the schema, as sentences that name path and rule; empty when it fits. */
export type Validate = (value: Json) => readonly string[]

/** So that who checks a schema and who uses it compile it once. */
const validators = new WeakMap<JsonSchema, Validate>()

export interface SchemaOptions {
  /** Whether `compileSchema` has taken it before, in whatever process: only what uses it is made then. Default false. */
  readonly checked?: boolean
}

/**
 * Compiles a JSON Schema 2020-12 document. Another `$schema` is refused, as the specification wants (2026-07-28
 * basic, "JSON Schema Usage"), and so is a `$ref` that leaves the document: nothing is ever fetched.
 * @param where names the schema in errors
 */
export function compileSchema(schema: JsonSchema, where: string, options: SchemaOptions = {}): Validate {
  const validate = validators.get(schema) ?? compiledNow(schema, where, options)
  validators.set(schema, validate)
  return validate
}

function compiledNow(schema: JsonSchema, where: string, { checked = false }: SchemaOptions): Validate {
  if (!checked) {
    const problem = refused(schema)
    if (problem !== undefined) throw new RunbridgeError('misconfigured', `${where}: ${problem}`)
    const none = schemaProblem(schema)
    if (none !== undefined) throw new RunbridgeError('misconfigured', `${where} ${NONE}: ${none}.`)
  }
  let check: ValidateFunction
  try {
    check = ajv.compile(schema)
    ajv.removeSchema(schema)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new RunbridgeError('misconfigured', `${where} ${NONE}: ${reason}.`, { cause })
  }
  return (value) => (check(value) ? [] : (check.errors ?? []).slice(0, MAX_PROBLEMS).map(sentence))
}

/** The same for schemas that come with runs: compiled once each, the oldest forgotten. */
export function schemaValidator(): (schema: JsonSchema, value: Json) => readonly string[] {
  const compiled = new Map<string, Validate>()
  return (schema, value) => {
    const key = canonicalJson(schema)
    let validate = compiled.get(key)
    if (!validate) {
      validate = compileSchema(schema, 'The schema of the answer')
      const oldest = compiled.size >= MAX_CACHED ? compiled.keys().next().value : undefined
      if (oldest !== undefined) compiled.delete(oldest)
      compiled.set(key, validate)
    }
    return validate(value)
  }
}

/** What makes the document no JSON Schema, as place and rule. */
function schemaProblem(schema: JsonSchema): string | undefined {
  meta ??= new Ajv2020({ strict: false, logger: false, formats })
  return meta.validateSchema(schema) ? undefined : meta.errorsText(meta.errors, { dataVar: '' })
}

/** Why the document can't be used, looked up at every depth. */
function refused(value: Json | undefined): string | undefined {
  if (Array.isArray(value)) return value.map(refused).find((problem) => problem !== undefined)
  if (!isJsonObject(value)) return undefined
  const { $schema, $ref, $dynamicRef } = value
  if (typeof $schema === 'string' && $schema.replace(/#$/, '') !== DIALECT) {
    return `$schema ${JSON.stringify($schema)} is not supported; write ${DIALECT} or leave it out.`
  }
  for (const ref of [$ref, $dynamicRef]) {
    if (typeof ref === 'string' && !ref.startsWith('#')) {
      return `$ref ${JSON.stringify(ref)} leaves the document; only references that start with # are followed.`
    }
  }
  if (Object.hasOwn(value, 'x-mcp-header')) {
    return 'x-mcp-header is not supported; leave it out and pass the argument in the body.'
  }
  return Object.values(value)
    .map(refused)
    .find((problem) => problem !== undefined)
}

function sentence(error: ErrorObject): string {
  const { keyword, params, instancePath, message } = error
  const at = (child?: unknown) => `${instancePath}${child === undefined ? '' : `/${String(child)}`}` || '/'
  switch (keyword) {
    case 'required':
      return `${at(params.missingProperty)} is required (rule: required)`
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = params.additionalProperty ?? params.unevaluatedProperty
      return `${at(name)} is not known (rule: ${keyword})`
    }
    case 'enum':
      return `${at()} must be one of ${JSON.stringify(params.allowedValues)} (rule: enum)`
    default:
      return `${at()} ${message ?? 'does not fit'} (rule: ${keyword})`
  }
}
