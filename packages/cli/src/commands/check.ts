import type { Io } from './io.js'

export async function check(_options: { config: string; signal: AbortSignal }, _io: Io): Promise<number> {
  return 1
}
