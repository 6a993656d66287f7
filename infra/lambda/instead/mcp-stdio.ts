const NONE = 'Nothing is served over pipes on Lambda.'

/** Instead of `@modelcontextprotocol/server/stdio` in the bundle: a function has no client at the other end of pipes. */
export function serveStdio(): never {
  throw new Error(NONE)
}

export class StdioServerTransport {
  constructor() {
    throw new Error(NONE)
  }
}
