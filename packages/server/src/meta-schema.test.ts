import type { Json } from '@runbridge/core'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { schemaProblem } from './meta-schema.js'

/** The published meta-schemas. */
const published = new Ajv2020({ strict: false, logger: false })
addFormats.default(published)

const KEYWORDS = [
  ...['$id', '$anchor', '$dynamicAnchor', '$comment', '$defs', 'definitions', 'prefixItems', 'items'],
  ...[
    'contains',
    'additionalProperties',
    'properties',
    'patternProperties',
    'dependentSchemas',
    'if',
    'then',
  ],
  ...['propertyNames', 'else', 'allOf', 'anyOf', 'oneOf', 'not', 'unevaluatedItems', 'unevaluatedProperties'],
  ...['type', 'const', 'enum', 'multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum'],
  ...[
    'maxLength',
    'minLength',
    'pattern',
    'maxItems',
    'minItems',
    'uniqueItems',
    'maxContains',
    'minContains',
  ],
  ...['maxProperties', 'minProperties', 'required', 'dependentRequired', 'title', 'description', 'default'],
  ...['deprecated', 'readOnly', 'writeOnly', 'examples', 'format', 'contentEncoding', 'contentMediaType'],
  ...['contentSchema', '$vocabulary', 'x-own'],
]
const VALUES: Json[] = [
  ...[true, false, null, 0, 1, -1, 0.5, 'object', 'string', 'a', '', '(', '^a$', '#', '1a'],
  ...[[], ['a'], ['a', 'a'], ['string', 'null'], ['string', 'string'], [1], [true], [{}], [{ type: 'no' }]],
  ...[{}, { a: {} }, { a: true }, { a: 1 }, { a: ['b'] }, { a: ['b', 'b'] }, { '(': {} }, { type: 'no' }],
]

const { schema } = fc.letrec<{ schema: Json }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json[]>(true, {}, { type: 'string' }),
    fc.dictionary(
      fc.constantFrom(...KEYWORDS),
      fc.oneof(
        fc.constantFrom(...VALUES),
        tie('schema'),
        fc.array(tie('schema'), { maxLength: 2 }),
        fc.dictionary(fc.constantFrom('a', 'type', '^b'), tie('schema'), { maxKeys: 2 }),
      ),
      { maxKeys: 3 },
    ) as fc.Arbitrary<Json>,
  ),
}))

describe('a JSON Schema 2020-12', () => {
  it.each(KEYWORDS)('has the values for %s that the published meta-schemas allow', (keyword) => {
    const seen = VALUES.map((value) => [value, schemaProblem({ [keyword]: value }) === undefined])
    const asked = VALUES.map((value) => [value, published.validateSchema({ [keyword]: value } as object)])
    expect(seen).toEqual(asked)
  })

  it('is one for us where it is one for the published meta-schemas', () => {
    fc.assert(
      fc.property(schema, (document) => {
        const problem = schemaProblem(document)
        expect(problem === undefined, problem).toBe(published.validateSchema(document as object))
      }),
      { numRuns: 500 },
    )
  })

  it.each<[Json, string]>([
    [
      { properties: { a: { minLength: -1 } } },
      '/properties/a/minLength must be a whole number that is not negative',
    ],
    [{ anyOf: [{}, 1] }, '/anyOf/1 must be a schema: an object, true or false'],
    [1, '/ must be a schema: an object, true or false'],
  ])('%j is none: %s', (document, problem) => {
    expect(schemaProblem(document)).toBe(problem)
  })
})
