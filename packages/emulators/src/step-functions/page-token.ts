import { invalidToken, validation } from './errors.js'

/** A page token: what it lists and where the next page starts, readable only here. */
export function pageToken(list: string, from: number): string {
  return Buffer.from(JSON.stringify([list, from])).toString('base64url')
}

/** Where the page starts; 0 without a token. A token of another list is invalid. */
export function pageStart(list: string, token: unknown): number {
  if (token === undefined || token === null) return 0
  const text = String(token)
  if (text.length > 3096)
    throw validation('nextToken', text.slice(0, 40), 'have length less than or equal to 3096')
  try {
    const [tokenList, from] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [unknown, unknown]
    if (tokenList === list && typeof from === 'number') return from
  } catch {
    // not one of ours
  }
  throw invalidToken()
}

/** One page of a list that is already in order. */
export function page<T>(
  list: string,
  items: T[],
  size: number,
  token: unknown,
): { items: T[]; nextToken?: string } {
  const start = pageStart(list, token)
  const chosen = items.slice(start, start + size)
  return start + size < items.length
    ? { items: chosen, nextToken: pageToken(list, start + size) }
    : { items: chosen }
}
