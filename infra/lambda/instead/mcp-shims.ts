import process from 'node:process'

/**
 * Instead of `@modelcontextprotocol/server/_shims` in the bundle: its validator brings a second Ajv (154 kB), and is
 * for what a server asks of a client over a session, which there is none of on Lambda.
 */
export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error('No validator is bundled: a server on Lambda asks nothing over a session.')
  }
}

export { process }
