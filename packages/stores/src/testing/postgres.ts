import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers with the URL of the test run's PostgreSQL, and starts it for whoever asks first. */
    postgresAt: string
  }
}

/** The URL of a PostgreSQL that this test run shares. */
export async function postgresUrl(): Promise<string> {
  const response = await fetch(inject('postgresAt'))
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}

/** A name of a schema that nobody else has. */
export function newSchema(): string {
  return `test_${randomBytes(8).toString('hex')}`
}

/** Runs statements as another program does. */
export async function psql(url: string, ...statements: string[]): Promise<pg.QueryResult[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const results = []
    for (const statement of statements) results.push(await client.query(statement))
    return results
  } finally {
    await client.end()
  }
}

export async function dropSchema(url: string, schema: string): Promise<void> {
  await psql(url, `drop schema if exists "${schema}" cascade`)
}
