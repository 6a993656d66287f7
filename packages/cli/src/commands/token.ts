import { createToken } from '@runbridge/server'
import { EXIT } from './exit.js'
import type { Io } from './io.js'

/** Makes a token. The token itself goes to `out` alone, so that it can be piped into a secret store. */
export function token(name: string, io: Io): number {
  const made = createToken()
  io.out(made.token)
  io.err(`Give this token to ${name}; it is shown this once. In runbridge.yaml, under server.auth.tokens:`)
  io.err(`  - { name: ${JSON.stringify(name)}, sha256: ${made.sha256} }`)
  return EXIT.ok
}
