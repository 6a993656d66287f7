import type { TaskEnabledSession } from '@modelcontextprotocol/ext-tasks/client'
import { type ConnectOptions, connect } from './connect.js'
import { serverError } from './server-error.js'

/** What a command does with a server, by its URL. What comes to nothing is told in words. */
export async function withSession<T>(
  url: string,
  options: ConnectOptions,
  use: (session: TaskEnabledSession) => Promise<T>,
): Promise<T> {
  try {
    const connection = await connect(url, options)
    try {
      return await use(connection.session)
    } finally {
      await connection.close()
    }
  } catch (thrown) {
    throw serverError(url, thrown)
  }
}
