import type { Json, JsonObject, JsonSchema } from '@runbridge/core'
import { compileSchema } from '../json-schema.js'

/** What an agent is given by its host: nothing but words and schemas. */
export interface Host {
  readonly instructions: string
  readonly tools: readonly {
    readonly name: string
    readonly description: string
    readonly inputSchema: JsonSchema
  }[]
  call(
    name: string,
    args: JsonObject,
  ): Promise<{ readonly texts: readonly string[]; readonly isError: boolean }>
}

export interface Outcome {
  readonly calls: readonly { readonly name: string; readonly args: JsonObject }[]
  /** The texts of the last answer. */
  readonly last: readonly string[]
  readonly isError: boolean
  /** Why the agent stopped. */
  readonly stopped: 'done' | 'gave up' | 'lost'
  /** What it was told to pass on to its user. */
  readonly toldUser: boolean
}

/** An agent that gets nowhere ends after this many calls. */
const MAX_CALLS = 20

/**
 * An agent that follows rules and knows nothing: no tool's name but the one it was asked to call, no form of ids. It
 * does what a text names: a call with arguments as JSON, an answer that fits a schema. It starts its work again where an
 * answer is no result and nothing told it not to, as models do.
 */
export async function scriptedAgent(host: Host, name: string, args: JsonObject): Promise<Outcome> {
  const calls: { name: string; args: JsonObject }[] = []
  let toldUser = false
  let next: { name: string; args: JsonObject } | undefined = { name, args }
  for (;;) {
    calls.push(next)
    const { texts, isError } = await host.call(next.name, next.args)
    // The first part of an answer is the server's; further ones may be a run's.
    const [text = ''] = texts
    toldUser ||= /\btell your user\b/i.test(text)
    const end = (stopped: Outcome['stopped']) => ({ calls, last: texts, isError, stopped, toldUser })
    if (isError) return end('done')
    const named = namedCall(host, text)
    if (named === undefined && !/not the result yet/i.test(text)) return end('done')
    if (calls.length === MAX_CALLS) return end('gave up')
    const everRead = [host.instructions, ...host.tools.map(({ description }) => description), text].join('\n')
    if (named) next = named
    else if (/do not (start it|call this|call the tool) again/i.test(everRead)) return end('lost')
    else next = { name, args }
  }
}

/** The call that the text says to make: what has to come first before all else. */
function namedCall(host: Host, text: string): { name: string; args: JsonObject } | undefined {
  const found = [...text.matchAll(/(first answer it: )?\bcall (\w+) with (?=\{)/gi)].map((match) => {
    const [args, end] = jsonAt(text, match.index + match[0].length)
    return { first: match[1] !== undefined, name: match[2] ?? '', args, rest: text.slice(end) }
  })
  const chosen = found.find(({ first }) => first) ?? found[0]
  const tool = host.tools.find((each) => each.name === chosen?.name)
  if (!chosen || !tool) return undefined
  const args = { ...(chosen.args as JsonObject) }
  const schemaAt = /^, an action \((\w+) or \w+\) and, with accept, a content that fits (?=\{)/.exec(
    chosen.rest,
  )
  if (schemaAt) {
    args.action = schemaAt[1] ?? ''
    args.content = fitting(jsonAt(chosen.rest, schemaAt[0].length)[0] as JsonSchema)
  }
  const problems = compileSchema(tool.inputSchema, tool.name)(args)
  if (problems.length > 0) throw new Error(`The text names a call that does not fit: ${problems.join('; ')}`)
  return { name: tool.name, args }
}

/** The JSON object that begins there, and where it ends. */
function jsonAt(text: string, start: number): [Json, number] {
  for (let end = text.indexOf('}', start) + 1; end > 0; end = text.indexOf('}', end) + 1) {
    try {
      return [JSON.parse(text.slice(start, end)) as Json, end]
    } catch {
      // It goes on.
    }
  }
  throw new Error(`No JSON in ${text.slice(start)}`)
}

/** An answer that the schema allows, and that agrees to whatever is asked. */
function fitting(schema: JsonSchema): JsonObject {
  const properties = (schema.properties ?? {}) as Record<string, JsonObject>
  const value = ({ type, enum: values }: JsonObject): Json =>
    Array.isArray(values) ? (values[0] as Json) : type === 'boolean' ? true : type === 'string' ? 'yes' : 1
  return Object.fromEntries(Object.entries(properties).map(([key, property]) => [key, value(property)]))
}
