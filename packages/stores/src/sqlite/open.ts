import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { RunbridgeError } from '@runbridge/core'
import Database from 'libsql'
import { isBusy, storeError } from './errors.js'
import { migrate } from './schema.js'

/** How long an operation blocks the event loop for another process's commit, in ms, before it waits outside. */
const COMMIT_MS = 10

/** Opens the file, makes it when it is missing, and brings it to this code's schema. */
export function openDatabase(path: string, busyTimeoutMs: number): Database.Database {
  // Absolute, so that libsql never takes it for a URL or for a database in memory.
  const file = resolve(path)
  prepareFile(file)
  const deadline = performance.now() + busyTimeoutMs
  for (;;) {
    try {
      return connect(file)
    } catch (thrown) {
      if (!isBusy(thrown) || performance.now() >= deadline) throw storeError(thrown, file)
    }
    // SQLite does not wait by itself where waiting could be a deadlock, as in two first switches to WAL.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1 + Math.random() * 20)
  }
}

function connect(file: string): Database.Database {
  const db = open(file)
  try {
    const mode = (db.pragma('journal_mode = WAL') as { journal_mode: string }[])[0]?.journal_mode
    if (mode !== 'wal') {
      throw new RunbridgeError(
        'misconfigured',
        `${file} can’t be shared by processes: SQLite has no write-ahead log there. Name a file on a local disk.`,
      )
    }
    // In WAL mode only FULL flushes the log at every commit; NORMAL may lose the last ones at a power loss.
    db.pragma('synchronous = FULL')
    // On macOS a flush reaches the disk itself only with F_FULLFSYNC; elsewhere this changes nothing.
    db.pragma('fullfsync = ON')
    migrate(db, file)
    return db
  } catch (thrown) {
    db.close()
    throw thrown
  }
}

function open(file: string): Database.Database {
  try {
    return new Database(file, { timeout: COMMIT_MS })
  } catch (cause) {
    // libsql gives no code here, only SQLite's number within the message.
    throw storeError({ code: 'SQLITE_CANTOPEN', cause }, file)
  }
}

/** SQLite gives the mode of the database to the files beside it (its log and shared memory). */
function prepareFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (thrown) {
    if (codeOf(thrown) !== 'EEXIST') throw fileError(thrown, file)
  }
  try {
    if (!statSync(file).isFile())
      throw misconfigured(`${file} is not a file. Name a file for the task store.`)
    accessSync(file, constants.R_OK | constants.W_OK)
    accessSync(dirname(file), constants.W_OK)
  } catch (thrown) {
    throw fileError(thrown, file)
  }
}

function codeOf(thrown: unknown): string | undefined {
  return (thrown as NodeJS.ErrnoException).code
}

function misconfigured(message: string, cause?: unknown): RunbridgeError {
  return new RunbridgeError('misconfigured', message, { cause })
}

function fileError(thrown: unknown, file: string): RunbridgeError {
  if (thrown instanceof RunbridgeError) return thrown
  const code = codeOf(thrown)
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return misconfigured(
      `${dirname(file)} is not a folder. Make it, or name another file for the task store.`,
      thrown,
    )
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return misconfigured(
      `${file} is not writable by this process (${code}). Let it write to the file and to its folder, or name another file for the task store.`,
      thrown,
    )
  }
  return new RunbridgeError(
    'unavailable',
    `${file} can’t be used as a task store: ${code ?? 'an unexpected error'}.`,
    {
      cause: thrown,
    },
  )
}
