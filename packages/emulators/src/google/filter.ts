import { invalid } from './errors.js'

const TERM = /^\s*([\w.-]+)\s*(=|:)\s*(?:"([^"]*)"|([\w-]+))\s*$/

/**
 * A filter of AIP-160 as far as it is needed: terms such as `labels.key="value"` and `state="ACTIVE"`, joined by AND.
 * Throws INVALID_ARGUMENT for anything else, so that no test rests on a filter that does nothing.
 */
export function filtered<T>(
  items: readonly T[],
  filter: unknown,
  field: (item: T, name: string) => string | undefined,
): T[] {
  const text = typeof filter === 'string' ? filter.trim() : ''
  if (text === '') return [...items]
  const terms = text.split(/\s+AND\s+/).map((term) => {
    const [, name, , quoted, bare] = TERM.exec(term) ?? []
    if (name === undefined) throw invalid(`The filter ${term} is not understood.`)
    return { name, value: quoted ?? bare }
  })
  return items.filter((item) => terms.every(({ name, value }) => field(item, name) === value))
}

const MAX_PAGE = 1000

/** One page of a list that is already in order. */
export function pageOf<T>(
  items: readonly T[],
  request: { readonly pageSize?: unknown; readonly pageToken?: unknown },
  standard: number,
): { items: T[]; nextPageToken: string } {
  const size = Math.min(MAX_PAGE, Number(request.pageSize) || standard)
  const token = String(request.pageToken ?? '')
  const from = token === '' ? 0 : Number(Buffer.from(token, 'base64url').toString())
  if (!Number.isInteger(from)) throw invalid('The page token is invalid.')
  const next = from + size < items.length ? Buffer.from(String(from + size)).toString('base64url') : ''
  return { items: items.slice(from, from + size), nextPageToken: next }
}
