#!/usr/bin/env node
import { errorText, exitStatus } from './commands/exit.js'
import { standardIo } from './commands/io.js'
import { program } from './program.js'

// The SDK's announcement of its next Node version would come before the first word of every command.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'

try {
  process.exitCode = await program(process.argv, standardIo)
} catch (error) {
  standardIo.err(`runbridge: ${errorText(error)}`)
  process.exitCode = exitStatus(error)
}
