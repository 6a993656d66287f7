import type { JsonObject } from '@runbridge/core'
import { isJsonObject } from '@runbridge/core'
import { editorSchema, firstOf } from './editor-schema.js'

const BEGIN = '<!-- reference: written by `npm run docs` -->'
const END = '<!-- /reference -->'

/** The page with the part between its two marks replaced. */
export function withReference(page: string, reference: string): string {
  const begin = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`The page lacks the marks ${BEGIN} and ${END}.`)
  return `${page.slice(0, begin + BEGIN.length)}\n\n${reference}\n${page.slice(end)}`
}

/** Every key of `runbridge.yaml` with type, default and meaning: one Markdown table for each section. */
export function configReference(): string {
  const sections = Object.entries(propertiesOf(editorSchema()))
  return sections.map(([name, schema]) => sectionText(name, schema)).join('\n')
}

function sectionText(name: string, schema: JsonObject): string {
  const [prefix, object] = isJsonObject(schema.items) ? [`${name}[]`, schema.items] : [name, schema]
  const rows = rowsOf(object, '').map((cells) => `| ${cells.join(' | ')} |`)
  const head = ['| key | type | default | meaning |', '| --- | --- | --- | --- |']
  return [`### \`${prefix}\``, '', `${schema.description ?? ''}.`, '', ...head, ...rows, ''].join('\n')
}

function rowsOf(schema: JsonObject, prefix: string): string[][] {
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  const named = Object.entries(propertiesOf(schema)).flatMap(([name, property]) =>
    rowsOfKey(`${prefix}${name}`, property, required.has(name)),
  )
  const { additionalProperties } = schema
  const values = firstOf(additionalProperties)
  const any = isJsonObject(values) && isJsonObject(values.properties) ? rowsOf(values, `${prefix}NAME.`) : []
  return [...named, ...any]
}

function rowsOfKey(key: string, schema: JsonObject, required: boolean): string[][] {
  const nested = isJsonObject(schema.items) ? rowsOf(schema.items, `${key}[].`) : rowsOf(schema, `${key}.`)
  const fallback = required ? 'required' : schema.default === undefined ? '' : code(schema.default)
  const row = [
    code(key),
    typeOf(schema),
    nested.length > 0 && !required ? '' : fallback,
    `${schema.description ?? ''}`,
  ]
  return [row, ...nested]
}

function typeOf(schema: JsonObject): string {
  if (Array.isArray(schema.anyOf))
    return [...new Set(schema.anyOf.filter(isJsonObject).map(typeOf))].join(' or ')
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => code(value)).join(', ')
  if (schema.type === 'array')
    return `list of ${isJsonObject(schema.items) ? typeOf(schema.items) : 'anything'}`
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  const { minimum, maximum } = schema
  return maximum === undefined ? String(type) : `${String(type)}, ${String(minimum)} to ${String(maximum)}`
}

function code(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}

function propertiesOf(schema: JsonObject): Record<string, JsonObject> {
  return isJsonObject(schema.properties) ? (schema.properties as Record<string, JsonObject>) : {}
}
