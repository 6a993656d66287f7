import { Console } from 'node:console'
import { Writable } from 'node:stream'
import pino, { type DestinationStream, type Logger } from 'pino'
import { plainError } from './plain-error.js'

/** Who did what: always written, whatever level the log has. */
export function auditOf(log: Logger): Logger {
  return log.child({}, { level: 'info' })
}

/** JSON lines on standard error, written at once, so that none is lost at an exit. */
export function createLog(
  level: string,
  destination: DestinationStream = pino.destination({ fd: 2, sync: true }),
): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (thrown: unknown) => plainError(thrown) },
    },
    destination,
  )
}

/**
 * A console that writes to the log. Libraries talk to the console: Hono's server, when a client leaves. Standard
 * output is for what the command says, and over stdio for the protocol alone.
 */
export function consoleOf(log: Logger): Console {
  const lines = (level: 'info' | 'warn') =>
    new Writable({
      decodeStrings: false,
      write(text, _encoding, done) {
        log[level]({ said: String(text).trimEnd() }, 'a library wrote to the console')
        done()
      },
    })
  return new Console({ stdout: lines('info'), stderr: lines('warn') })
}
