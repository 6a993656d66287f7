import type { JsonSchema } from '@runbridge/core'
import { describe, expect, it } from 'vitest'
import { compileSchema, schemaValidator } from './json-schema.js'

describe('compileSchema', () => {
  it.each<[JsonSchema, string]>([
    [
      { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' },
      '$schema "http://json-schema.org/draft-07',
    ],
    [{ type: 'object', properties: { a: { $schema: 'https://example.com/own' } } }, 'is not supported'],
    [{ $ref: 'https://example.com/order.json' }, 'leaves the document'],
    [{ type: 'object', properties: { a: { $ref: 'order.json' } } }, 'leaves the document'],
    [{ type: 'object', properties: { a: { $ref: '#/$defs/none' } } }, 'is no valid JSON Schema'],
    [{ type: 'objekt' }, 'is no valid JSON Schema'],
    [{ required: ['a', 'a'] }, '/required must NOT have duplicate items'],
    [{ properties: { a: { pattern: '(' } } }, 'is no valid JSON Schema'],
    [{ patternProperties: { '(': {} } }, 'is no valid JSON Schema'],
    [{ properties: { a: { type: 'string', 'x-mcp-header': 'A' } } }, 'x-mcp-header'],
  ])('refuses %j at configuration', (schema, words) => {
    expect(() => compileSchema(schema, 'The schema of x')).toThrow(
      expect.objectContaining({ code: 'misconfigured', message: expect.stringContaining(words) }),
    )
  })

  it('checks a value of a megabyte against every format at once', () => {
    const validate = compileSchema(
      { type: 'object', properties: { a: { type: 'string', format: 'url' } } },
      'x',
    )
    expect(validate({ a: 'https://example.com/a' })).toEqual([])
    expect(validate({ a: `http://${'::'.repeat(500_000)}` })).toEqual([
      '/a must match format "url" (rule: format)',
    ])
  })

  it('accepts the dialect by name and references inside the document', () => {
    const validate = compileSchema(
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $defs: { id: { type: 'string', format: 'uuid' } },
        type: 'object',
        properties: { id: { $ref: '#/$defs/id' } },
      },
      'x',
    )
    expect(validate({ id: 'no' })).toEqual(['/id must match format "uuid" (rule: format)'])
  })

  it.each([
    [{ other: 1 }, ['/a is required (rule: required)', '/other is not known (rule: additionalProperties)']],
    [{ a: { b: [1, 'x'] } }, ['/a/b/1 must be integer (rule: type)']],
    [{ a: { b: [] }, c: 'z' }, ['/c must be one of ["x","y"] (rule: enum)']],
    ['text', ['/ must be object (rule: type)']],
  ])('names path and rule: %j', (value, problems) => {
    const validate = compileSchema(
      {
        type: 'object',
        properties: {
          a: { type: 'object', properties: { b: { type: 'array', items: { type: 'integer' } } } },
          c: { enum: ['x', 'y'] },
        },
        required: ['a'],
        additionalProperties: false,
      },
      'x',
    )
    expect(validate(value)).toEqual(problems)
  })

  it('takes one that was checked before as it is', () => {
    const bad: JsonSchema = { required: ['a', 'a'] }
    expect(compileSchema(bad, 'x', { checked: true })({})).not.toEqual([])
    expect(() => compileSchema({ ...bad }, 'x')).toThrow('is no valid JSON Schema')
  })

  it('names a handful of problems at most', () => {
    const validate = compileSchema({ type: 'array', items: { type: 'string' } }, 'x')
    expect(validate(Array.from({ length: 100 }, () => 1))).toHaveLength(5)
  })
})

describe('schemaValidator', () => {
  it('keeps schemas with the same $id apart', () => {
    const validate = schemaValidator()
    const id = 'https://example.com/answer'
    expect(validate({ $id: id, type: 'string' }, 1)).toHaveLength(1)
    expect(validate({ $id: id, type: 'number' }, 1)).toEqual([])
  })
})
