import type Database from 'libsql'

/**
 * Runs `body` as one transaction that has the write lock from its beginning: one that takes it later fails
 * where another writer came between (SQLITE_BUSY_SNAPSHOT), whatever the busy timeout.
 */
export function transaction<T>(db: Database.Database, body: () => T): T {
  db.exec('begin immediate')
  try {
    const result = body()
    db.exec('commit')
    return result
  } catch (thrown) {
    // SQLite itself rolls back after some faults, such as a full disk.
    if (db.inTransaction) db.exec('rollback')
    throw thrown
  }
}
