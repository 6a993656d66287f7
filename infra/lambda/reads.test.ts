import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { configOf } from './config-of.js'
import { secretsOf } from './secrets.js'

/** What the service answers to every request. */
let answer: { status: number; body: object }
let asked: { target: string | undefined; body: unknown }[]
let server: Server

beforeEach(async () => {
  asked = []
  server = createServer(async (request, response) => {
    const target = request.headers['x-amz-target']
    asked.push({ target: String(target), body: JSON.parse(await text(request)) })
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.1' })
    response.end(JSON.stringify(answer.body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  vi.stubEnv('AWS_ENDPOINT_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  vi.stubEnv('AWS_REGION', 'eu-north-1')
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local')
})
afterEach(() => {
  vi.unstubAllEnvs()
  server.closeAllConnections()
  server.close()
})

const refused = (name: string, message = 'no') => ({ status: 400, body: { __type: name, message } })

describe('the configuration in a parameter', () => {
  it('is its text, decrypted', async () => {
    answer = { status: 200, body: { Parameter: { Value: 'tools: []' } } }
    expect(await configOf('/runbridge')).toBe('tools: []')
    expect(asked).toEqual([
      { target: 'AmazonSSM.GetParameter', body: { Name: '/runbridge', WithDecryption: true } },
    ])
  })

  it.each([
    ['is missing', refused('ParameterNotFound'), /\/runbridge is not there: create it/],
    [
      'may not be read',
      refused('AccessDeniedException'),
      /\/runbridge may not be read: allow ssm:GetParameter/,
    ],
    ['fails otherwise', refused('InvalidKeyId'), /could not be read\. AWS says: InvalidKeyId: no/],
    ['is empty', { status: 200, body: { Parameter: { Value: ' \n' } } }, /\/runbridge is empty; write/],
  ])('says so when it %s', async (_, given, message) => {
    answer = given
    await expect(configOf('/runbridge')).rejects.toThrow(message)
  })
})

describe('secrets', () => {
  const names = JSON.stringify({ TOKEN: 'arn:aws:secretsmanager:eu-north-1:111122223333:secret:token-a' })

  it('are variables by their names', async () => {
    answer = { status: 200, body: { SecretString: 's3cret' } }
    expect(await secretsOf(names)).toEqual({ TOKEN: 's3cret' })
  })

  it('ask nobody when there are none', async () => {
    expect(await secretsOf(undefined)).toEqual({})
    expect(asked).toEqual([])
  })

  it.each([
    ['is missing', refused('ResourceNotFoundException'), /secret:token-a for TOKEN is not there: create it/],
    [
      'may not be read',
      refused('AccessDeniedException'),
      /for TOKEN may not be read: allow secretsmanager:GetS/,
    ],
    ['is no text', { status: 200, body: { SecretBinary: 'AAEC' } }, /for TOKEN has no text; store it as a/],
  ])('say so when one %s', async (_, given, message) => {
    answer = given
    await expect(secretsOf(names)).rejects.toThrow(message)
  })
})
