import type Database from 'libsql'

/**
 * Runs `body` as one transaction that has the write lock from its beginning, and so is only ever busy here: one
 * that takes the lock later fails where another writer came between (SQLITE_BUSY_SNAPSHOT). A prepared write
 * that is busy by itself stays unfinished in libsql, and no transaction of the connection can commit any more.
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
