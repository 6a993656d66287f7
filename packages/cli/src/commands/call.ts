import { isJsonObject, type JsonObject, RunbridgeError } from '@runbridge/core'
import { askTerminal } from '../client/ask-terminal.js'
import { runTool } from '../client/run-tool.js'
import { withSession } from '../client/with-session.js'
import { EXIT } from './exit.js'
import type { Io } from './io.js'

export interface CallOptions {
  readonly url: string
  /** The arguments as JSON text. */
  readonly args: string
  /** Whether a person sits at the terminal and can be asked. */
  readonly interactive: boolean
}

/** Calls a tool of a running server and follows it: the result to `out`, what happens on the way to `err`. */
export async function call(tool: string, options: CallOptions, io: Io): Promise<number> {
  const args = readArguments(options.args)
  return withSession(options.url, options.interactive ? { onQuestion: askTerminal } : {}, async (session) => {
    const end = await runTool(session, tool, args, {
      onTask: (taskId) => io.err(`task ${taskId}`),
      onChange: ({ status, statusMessage }) => io.err(`${status}  ${statusMessage ?? ''}`),
    })
    for (const text of end.texts) io.out(text)
    return end.isError ? EXIT.failed : EXIT.ok
  })
}

export function readArguments(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new RunbridgeError('invalid_input', `--args is no JSON: write it as '{"name": "value"}'.`, {
      cause,
    })
  }
  if (isJsonObject(value)) return value
  throw new RunbridgeError('invalid_input', `--args must be a JSON object: write it as '{"name": "value"}'.`)
}
