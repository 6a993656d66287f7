import pino, { type Logger } from 'pino'

/** JSON lines on standard error, written at once, so that none is lost at an exit. */
export function createLog(level: string): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: true }),
  )
}
