import { isJsonObject, type Json } from '@runbridge/core'

/** What a keyword's value has to be, in the words of a problem, and the schemas in it by their place. */
interface Kind {
  readonly must: string
  readonly fits: (value: Json) => boolean
  readonly inner?: (value: Json) => readonly (readonly [place: string, schema: Json])[]
}

const TYPES: ReadonlySet<Json> = new Set([
  'array',
  'boolean',
  'integer',
  'null',
  'number',
  'object',
  'string',
])

const isString = (value: Json) => typeof value === 'string'
const isNumber = (value: Json) => typeof value === 'number'
const unique = (values: readonly Json[]) => new Set(values).size === values.length
const isNames = (value: Json) => Array.isArray(value) && value.every(isString) && unique(value)

const anything: Kind = { must: 'anything', fits: () => true }
const schema: Kind = {
  must: 'a schema: an object, true or false',
  fits: (value) => typeof value === 'boolean' || isJsonObject(value),
  inner: (value) => [['', value]],
}
const schemas: Kind = {
  must: 'a list of at least one schema',
  fits: (value) => Array.isArray(value) && value.length > 0,
  inner: (value) => (value as Json[]).map((item, index) => [`/${index}`, item]),
}
const schemasByName: Kind = {
  must: 'an object of schemas',
  fits: isJsonObject,
  inner: (value) => Object.entries(value as object).map(([name, item]) => [`/${name}`, item]),
}
const text: Kind = { must: 'a string', fits: isString }
const anchor: Kind = {
  must: 'a name of letters, digits, - . _ that starts with a letter or _',
  fits: (value) => isString(value) && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value as string),
}
const flag: Kind = { must: 'true or false', fits: (value) => typeof value === 'boolean' }
const number: Kind = { must: 'a number', fits: isNumber }
const count: Kind = {
  must: 'a whole number that is not negative',
  fits: (value) => Number.isInteger(value) && (value as number) >= 0,
}
const list: Kind = { must: 'a list', fits: Array.isArray }
const names: Kind = { must: 'a list of different strings', fits: isNames }

/** JSON Schema 2020-12, https://json-schema.org/draft/2020-12/schema and the vocabularies that it names. */
const KEYWORDS: ReadonlyMap<string, Kind> = new Map(
  Object.entries({
    $id: {
      must: 'a URI without a fragment',
      fits: (value) => isString(value) && /^[^#]*#?$/.test(value as string),
    },
    $schema: text,
    $ref: text,
    $anchor: anchor,
    $dynamicRef: text,
    $dynamicAnchor: anchor,
    $vocabulary: {
      must: 'an object of true and false',
      fits: (value) => isJsonObject(value) && Object.values(value).every((used) => typeof used === 'boolean'),
    },
    $comment: text,
    $defs: schemasByName,
    definitions: schemasByName,
    prefixItems: schemas,
    items: schema,
    contains: schema,
    additionalProperties: schema,
    properties: schemasByName,
    patternProperties: schemasByName,
    dependentSchemas: schemasByName,
    propertyNames: schema,
    if: schema,
    // biome-ignore lint/suspicious/noThenProperty: the keyword's name; nobody awaits this.
    then: schema,
    else: schema,
    allOf: schemas,
    anyOf: schemas,
    oneOf: schemas,
    not: schema,
    unevaluatedItems: schema,
    unevaluatedProperties: schema,
    type: {
      must: `one of ${[...TYPES].join(', ')}, or a list of different ones`,
      fits: (value) =>
        Array.isArray(value)
          ? value.length > 0 && unique(value) && value.every((item) => TYPES.has(item))
          : TYPES.has(value),
    },
    const: anything,
    enum: list,
    multipleOf: { must: 'a number above 0', fits: (value) => isNumber(value) && (value as number) > 0 },
    maximum: number,
    exclusiveMaximum: number,
    minimum: number,
    exclusiveMinimum: number,
    maxLength: count,
    minLength: count,
    pattern: text,
    maxItems: count,
    minItems: count,
    uniqueItems: flag,
    maxContains: count,
    minContains: count,
    maxProperties: count,
    minProperties: count,
    required: names,
    dependentRequired: {
      must: 'an object of lists of different strings',
      fits: (value) =>
        isJsonObject(value) && Object.values(value).every((names) => names !== undefined && isNames(names)),
    },
    title: text,
    description: text,
    default: anything,
    deprecated: flag,
    readOnly: flag,
    writeOnly: flag,
    examples: list,
    format: text,
    contentEncoding: text,
    contentMediaType: text,
    contentSchema: schema,
  } satisfies Record<string, Kind>),
)

/**
 * What makes the document no JSON Schema 2020-12, as place and rule; undefined when it is one. The published meta-schemas
 * say the same as eight schemas, which take longer to compile than all else of a cold start. References and regular
 * expressions are left to whoever compiles.
 */
export function schemaProblem(document: Json, place = ''): string | undefined {
  if (!schema.fits(document)) return `${place || '/'} must be ${schema.must}`
  for (const [keyword, value] of isJsonObject(document) ? Object.entries(document) : []) {
    const kind = KEYWORDS.get(keyword)
    if (!kind || value === undefined) continue
    const at = `${place}/${keyword}`
    if (!kind.fits(value)) return `${at} must be ${kind.must}`
    for (const [inner, item] of kind.inner?.(value) ?? []) {
      const problem = schemaProblem(item, at + inner)
      if (problem !== undefined) return problem
    }
  }
  return undefined
}
