import { type ErrorCode, RunbridgeError } from '@runbridge/core'

/** By primary result code (sqlite.org/rescode.html). What is not here is a defect of ours. */
const MEANINGS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  SQLITE_BUSY: [
    'unavailable',
    'is locked by another process for longer than its busy timeout. Nothing was written: try again, and if it ' +
      'stays locked look for a program that keeps the file in a transaction.',
  ],
  SQLITE_LOCKED: ['unavailable', 'is locked within this process. Nothing was written: try again.'],
  SQLITE_FULL: [
    'unavailable',
    'can’t grow: its disk is full. Nothing was written: free some space, then try again.',
  ],
  SQLITE_IOERR: ['unavailable', 'can’t be read or written: its disk reports an error. Check the disk.'],
  SQLITE_CORRUPT: ['unavailable', 'is damaged. Stop the server and restore the file from a backup.'],
  SQLITE_NOTADB: ['misconfigured', 'is not an SQLite database. Name another file for the task store.'],
  SQLITE_READONLY: ['misconfigured', 'is read-only. Let the server write to the file and to its folder.'],
  SQLITE_CANTOPEN: [
    'misconfigured',
    'can’t be opened. Let the server read and write the file and its folder.',
  ],
  SQLITE_PERM: ['misconfigured', 'may not be opened. Let the server read and write the file and its folder.'],
  SQLITE_TOOBIG: ['too_large', 'does not take a record of this size.'],
}

function primaryCode(thrown: unknown): string {
  const code = (thrown as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code.split('_', 2).join('_') : ''
}

/** Whether waiting may help. */
export function isBusy(thrown: unknown): boolean {
  return ['SQLITE_BUSY', 'SQLITE_LOCKED'].includes(primaryCode(thrown))
}

/** @param subject what the message is about: the file when it is opened, no path where callers may read it */
export function storeError(thrown: unknown, subject: string): RunbridgeError {
  if (thrown instanceof RunbridgeError) return thrown
  const [code, what] = MEANINGS[primaryCode(thrown)] ?? [
    'internal',
    'met an unexpected error; see the server log.',
  ]
  return new RunbridgeError(code, `${subject} ${what}`, { cause: thrown })
}
