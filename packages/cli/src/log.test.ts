import { Writable } from 'node:stream'
import pino from 'pino'
import { expect, it } from 'vitest'
import { consoleOf } from './log.js'

it('what a library says to the console becomes a line of the log', () => {
  const lines: string[] = []
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const said = consoleOf(pino({ base: null, timestamp: false }, sink))
  said.info('The user aborted a request.')
  said.error('%s is broken', 'It')
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { level: 30, said: 'The user aborted a request.', msg: 'a library wrote to the console' },
    { level: 40, said: 'It is broken', msg: 'a library wrote to the console' },
  ])
})
