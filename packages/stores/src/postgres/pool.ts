import { RunbridgeError } from '@runbridge/core'

/** The part of a `pg` result that the store reads. */
interface QueryResult {
  // biome-ignore lint/suspicious/noExplicitAny: as pg types them; each statement says what its rows are.
  readonly rows: any[]
  readonly rowCount: number | null
}

interface Queryable {
  query(text: string, values?: unknown[]): Promise<QueryResult>
}

/** The part of a `pg.PoolClient` that the store uses. */
export interface PostgresClient extends Queryable {
  on(
    event: 'notification',
    listener: (message: { channel: string; payload?: string | undefined }) => void,
  ): unknown
  on(event: 'error' | 'end', listener: () => void): unknown
  /** @param destroy true closes the connection instead of giving it back */
  release(destroy?: boolean): void
}

/** The part of a `pg.Pool` that the store uses. */
export interface PostgresPool extends Queryable {
  connect(): Promise<PostgresClient>
  end(): Promise<void>
}

/** How long the pool waits for a connection, and for the answer to a statement, in ms. */
const CONNECT_MS = 5_000
const ANSWER_MS = 10_000

/**
 * A pool of our own. All its settings are the client's: what a connection tells the server at its start has to
 * pass poolers, which refuse settings such as `statement_timeout`.
 */
export async function openPool(url: string, maxConnections: number): Promise<PostgresPool> {
  const { default: pg } = await import('pg')
  try {
    const pool = new pg.Pool({
      connectionString: url,
      max: maxConnections,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
      application_name: 'runbridge',
    })
    // A connection that breaks while nobody uses it has left the pool already.
    pool.on('error', () => {})
    return pool
  } catch (cause) {
    throw new RunbridgeError('misconfigured', 'The URL of the PostgreSQL store can’t be read.', { cause })
  }
}

/** Host and database of a URL: what may be shown of it. Throws `misconfigured` for another kind of URL. */
export function shownUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^postgres(ql)?:$/.test(parsed.protocol)) {
    throw new RunbridgeError(
      'misconfigured',
      'The URL of the PostgreSQL store is not one: write postgres://user:password@host:5432/database.',
    )
  }
  return `PostgreSQL at ${parsed.host}${parsed.pathname}`
}
