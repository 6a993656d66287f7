import { operations } from '@runbridge/emulators/github'
import { Ajv } from 'ajv'
import * as formats from 'ajv-formats'
import { description } from './downloads.mjs'

/** @typedef {import('@runbridge/emulators/github').Exchange} Exchange */

/** Answers that GitHub's description leaves out of most operations, although every one can give them. */
const ANYWHERE = [301, 304, 307, 400, 401, 403, 404, 409, 422, 429, 500]
const GENERAL_ERROR = {
  type: 'object',
  properties: {
    message: { type: 'string' },
    documentation_url: { type: 'string' },
    status: { type: 'string' },
    url: { type: 'string' },
    errors: {},
  },
  required: ['message'],
  additionalProperties: false,
}

/**
 * Holds requests and answers against GitHub's description: the path, query parameters, bodies and answers, with no
 * member that it does not know.
 * @param {'api.github.com' | 'ghes-3.19'} version
 */
export function describedBy(version) {
  const document = description(version)
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: true })
  formats.default.default(ajv)
  /** @type {Map<string, { path: string, operation: any }>} */
  const described = new Map()
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const operation of Object.values(/** @type {any} */ (methods))) {
      described.set(operation.operationId, { path, operation })
    }
  }
  /** @type {Map<object, import('ajv').ValidateFunction>} */
  const compiled = new Map()
  /** @type {Map<string, Set<string>>} problems by operation, each once */
  const problems = new Map()
  /** @type {Map<string, number>} */
  const counts = new Map()

  /** @param {any} schema @param {unknown} value @param {string} where @param {string} operation */
  function compare(schema, value, where, operation) {
    const validate = compiled.get(schema) ?? ajv.compile(closed(schema))
    compiled.set(schema, validate)
    if (validate(value)) return
    for (const { instancePath, message, params } of validate.errors ?? []) {
      report(operation, `${where}${instancePath} ${message} ${JSON.stringify(params)}`)
    }
  }
  /** @param {string} operation @param {string} problem */
  function report(operation, problem) {
    problems.set(operation, (problems.get(operation) ?? new Set()).add(problem))
  }

  return {
    problems,
    counts,
    /** @param {Exchange} exchange */
    check({ operation: name, url, requestBody, status, body }) {
      counts.set(name, (counts.get(name) ?? 0) + 1)
      const found = described.get(name)
      if (!found) return report(name, 'is not described')
      const { path, operation } = found
      const template = operations[name].path
      if (path !== template) report(name, `is at ${path}, not at ${template}`)
      const known = new Map((operation.parameters ?? []).map((/** @type {any} */ each) => [each.name, each]))
      for (const [key, value] of new URL(url, 'http://x').searchParams) {
        const parameter = known.get(key)
        if (parameter?.in !== 'query') report(name, `takes no query parameter ${key}`)
        else compare(parameter.schema, typed(sought(value), parameter.schema), `?${key}`, name)
      }
      const request = operation.requestBody?.content?.['application/json']?.schema
      // A request that was refused for its shape is no fault of ours: it is how an older server is found out.
      if (requestBody !== undefined && status !== 422) {
        if (request) compare(request, requestBody, 'request', name)
        else if (JSON.stringify(requestBody) !== '{}') report(name, 'takes no body')
      }
      const answer = operation.responses[status]
      if (!answer && !ANYWHERE.includes(status)) return report(name, `does not answer ${status}`)
      if (body === undefined) return
      const schema = status >= 300 ? GENERAL_ERROR : answer?.content?.['application/json']?.schema
      if (schema) compare(schema, body, `answer ${status}`, name)
      else report(name, `answers ${status} without a body`)
    },
  }
}

/** Ranges of times are in the syntax of GitHub's search, which its description says in words alone. @param {string} value */
function sought(value) {
  return value.replace(/^>=/, '')
}

/** @param {string} value @param {any} schema */
function typed(value, schema) {
  if (schema?.type === 'integer') return Number(value)
  return schema?.type === 'boolean' ? value === 'true' : value
}

/**
 * The same schema without room for members that it does not name. Alternatives stay open: each would refuse what only
 * another knows.
 * @param {any} schema @returns {any}
 */
function closed(schema) {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  /** @type {Record<string, any>} */
  const copy = {}
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'example' || key === 'examples' || key === 'description') continue
    copy[key] =
      key === 'properties'
        ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, closed(each)]))
        : key === 'items'
          ? closed(value)
          : value
  }
  // As the description means it: JSON Schema wants the null among the values too.
  if (copy.nullable && copy.enum) copy.enum = [...copy.enum, null]
  const open = ['allOf', 'anyOf', 'oneOf'].some((key) => key in copy)
  if (copy.properties && copy.additionalProperties === undefined && !open) copy.additionalProperties = false
  return copy
}
