import { Writable } from 'node:stream'
import pino from 'pino'
import { expect, it } from 'vitest'
import { consoleOf, createLog } from './log.js'

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

it('an error is told with its causes, and with nothing of what a client sent or got', () => {
  const lines: string[] = []
  const request = Object.assign(new Error('Not Found'), {
    name: 'HttpError',
    code: 'ENOTHING',
    request: { url: 'https://example.com/?token=secret', body: { password: 'secret' } },
    response: { data: 'secret' },
  })
  createLog('info', { write: (line) => void lines.push(line) }).error(
    { err: new Error('It failed.', { cause: request }), other: 1 },
    'a request met an unexpected error',
  )
  expect(lines.join()).not.toContain('secret')
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    other: 1,
    err: { message: 'It failed.', cause: { type: 'HttpError', message: 'Not Found', code: 'ENOTHING' } },
  })
  createLog('info', { write: (line) => void lines.push(line) }).warn({ err: request }, 'x')
  expect(lines.join()).not.toContain('secret')
})
