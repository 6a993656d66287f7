import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RunbridgeError } from '@runbridge/core'
import { expect, it, onTestFinished } from 'vitest'
import { serverError } from './server-error.js'
import { withSession } from './with-session.js'

async function listening(status: number): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end('no'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

const tried = (url: string) => withSession(url, {}, async () => 'connected').catch((thrown) => thrown)

it('says that nobody answers, where and why, and what to do', async () => {
  const url = await listening(200)
  const nobody = new URL(url)
  nobody.port = '1'
  const error = await tried(nobody.href)
  expect(error).toBeInstanceOf(RunbridgeError)
  expect(error.message).toMatch(
    /^No server answers at http:\/\/127\.0\.0\.1:1\/mcp.*: start one with `runbridge serve`/,
  )
})

it.each([
  [401, 'RUNBRIDGE_TOKEN'],
  [404, 'answers with HTTP 404: name the address'],
  [500, 'answers with HTTP 500'],
])('says what to do where another server answers with %d', async (status, words) => {
  const error = await tried(await listening(status))
  expect(error).toBeInstanceOf(RunbridgeError)
  expect(error.message).toContain(words)
})

it('leaves a defect as it is', () => {
  const defect = new TypeError('undefined is not a function')
  expect(serverError('http://127.0.0.1/mcp', defect)).toBe(defect)
})
