import { createInterface } from 'node:readline/promises'
import type { ApplicationElicitResult } from '@modelcontextprotocol/ext-tasks/client'
import type { JsonObject } from '@runbridge/core'
import { isJsonObject } from '@runbridge/core'
import { printable } from '../printable.js'
import type { ElicitationQuestion } from './connect.js'

/** Puts a question to whoever sits at the terminal, field by field; on standard error, results have the other. */
export async function askTerminal(question: ElicitationQuestion): Promise<ApplicationElicitResult> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const choice = await terminal.question(
      `\n${printable(question.message)}\n[a]ccept, [d]ecline, anything else for later: `,
    )
    const action = ({ a: 'accept', d: 'decline' } as const)[choice.trim().toLowerCase()] ?? 'cancel'
    if (action !== 'accept') return { action }
    const content: Record<string, string | number | boolean> = {}
    for (const [name, field] of fieldsOf(question.requestedSchema)) {
      const typed = await terminal.question(fieldPrompt(name, field))
      if (typed !== '') content[name] = readAs(field, typed)
    }
    return { action, content }
  } finally {
    terminal.close()
  }
}

function fieldsOf(schema: unknown): [string, JsonObject][] {
  const properties = isJsonObject(schema) ? schema.properties : undefined
  return isJsonObject(properties) ? (Object.entries(properties) as [string, JsonObject][]) : []
}

/** `Decision (approve, reject): `: what is asked, and what can be typed. */
export function fieldPrompt(name: string, field: JsonObject): string {
  const { title = name, description, type = 'string' } = field
  const told = typeof description === 'string' ? `. ${description.replace(/\.$/, '')}` : ''
  const fits = optionsOf(field)?.join(', ') ?? (type === 'boolean' ? 'yes, no' : String(type))
  return printable(`${String(title)}${told} (${fits}): `)
}

/** An enum as the forms of MCP write it: values, or values with titles. */
function optionsOf({ enum: values, oneOf: titled }: JsonObject): string[] | undefined {
  if (Array.isArray(values)) return values.map(String)
  if (!Array.isArray(titled)) return undefined
  return titled.map((option) => String(isJsonObject(option) ? option.const : option))
}

/** What was typed, as the field's type; the server says what of it does not fit. */
function readAs(field: JsonObject, typed: string): string | number | boolean {
  if (field.type === 'boolean') return /^(y|yes|true|1)$/i.test(typed)
  if (field.type === 'number' || field.type === 'integer') return Number(typed)
  return typed
}
