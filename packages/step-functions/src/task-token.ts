import { isJsonObject, type Json } from '@runbridge/core'
import { parseJson } from './failure.js'

/** A task token is a long opaque text (AWS documents at most 2,048 characters); shorter ones need a telling name. */
const OPAQUE = /[A-Za-z0-9+/_-]{60,}={0,2}/g
const NAMED = /^task[-_ ]?token$/i

/** The value at a path such as `MessageBody.question`; a text that holds JSON is looked into. */
export function fieldAt(parameters: Json | undefined, path: string): Json | undefined {
  return path.split('.').reduce<Json | undefined>((value, key) => {
    const inside = typeof value === 'string' ? parseJson(value) : value
    if (Array.isArray(inside)) return inside[Number(key)]
    return isJsonObject(inside) && Object.hasOwn(inside, key) ? inside[key] : undefined
  }, parameters)
}

interface TokenCandidates {
  /** Under a name that says so. */
  readonly named: readonly string[]
  /** Anything that could be one, the named ones included. */
  readonly all: readonly string[]
}

/** What in a task's parameters could be its token. */
function tokenCandidates(parameters: Json | undefined): TokenCandidates {
  const named = new Set<string>()
  const all = new Set<string>()
  const visit = (value: Json | undefined, key: string): void => {
    if (typeof value === 'string') {
      const inside = /^\s*[{[]/.test(value) ? parseJson(value) : undefined
      if (inside !== undefined) visit(inside, key)
      else if (NAMED.test(key)) named.add(value)
      else for (const [opaque] of value.matchAll(OPAQUE)) all.add(opaque)
    } else if (Array.isArray(value)) {
      for (const item of value) visit(item, key)
    } else if (isJsonObject(value)) {
      for (const [name, member] of Object.entries(value)) visit(member, name)
    }
  }
  visit(parameters, '')
  return { named: [...named], all: [...new Set([...named, ...all])] }
}

/**
 * The task's own token: the field that is named in the configuration, else the only one under a telling name,
 * else the only opaque text. Undefined rather than a guess: a wrong token could answer somebody else's task.
 */
export function taskToken(parameters: Json | undefined, tokenField: string | undefined): string | undefined {
  if (tokenField !== undefined) {
    const field = fieldAt(parameters, tokenField)
    return typeof field === 'string' ? field : undefined
  }
  const { named, all } = tokenCandidates(parameters)
  const found = named.length > 0 ? named : all
  return found.length === 1 ? found[0] : undefined
}

/** Whether a text shows something that could be a token. */
export function showsToken(text: string, parameters: Json | undefined): boolean {
  return tokenCandidates(parameters).all.some((token) => text.includes(token))
}
