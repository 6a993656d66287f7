import { RunbridgeError } from '@runbridge/core'

/** Where a page ended. Only a place in an order: whose records follow is for the caller's owner to say. */
export interface Position {
  readonly createdAt: number
  readonly taskId: string
}

export function encodeCursor({ createdAt, taskId }: Position): string {
  return Buffer.from(JSON.stringify([createdAt, taskId])).toString('base64url')
}

/** Throws `invalid_input` for anything but what `encodeCursor` makes. */
export function decodeCursor(cursor: string): Position {
  const position = parse(cursor)
  // Buffer skips what is not base64url: only the exact text that this position has is a cursor.
  if (position !== undefined && encodeCursor(position) === cursor) return position
  throw new RunbridgeError(
    'invalid_input',
    'The cursor is not one that this server gave. Leave it out to start with the first page.',
  )
}

function parse(cursor: string): Position | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (!Array.isArray(value) || value.length !== 2) return undefined
    const [createdAt, taskId] = value as [unknown, unknown]
    if (typeof createdAt !== 'number' || typeof taskId !== 'string') return undefined
    return { createdAt, taskId }
  } catch {
    return undefined
  }
}

/** Throws `invalid_input` for a page size that the port does not allow. */
export function checkLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return
  throw new RunbridgeError('invalid_input', `A page has 1 to 1000 records; ${limit} were asked for.`)
}
