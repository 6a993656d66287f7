import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createGoogleWorkflowsClients } from './clients.js'
import { credentials } from './credentials.js'
import { ready } from './executions-api.js'

/** A token endpoint on loopback, and what it was asked. */
async function tokenEndpoint() {
  const asked: string[] = []
  const server = createServer(async (incoming, outgoing) => {
    let body = ''
    for await (const chunk of incoming) body += chunk
    asked.push(body)
    outgoing.setHeader('content-type', 'application/json')
    outgoing.end(JSON.stringify({ access_token: 'made-here', token_type: 'Bearer', expires_in: 3600 }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const folder = await mkdtemp(join(tmpdir(), 'runbridge-keys-'))
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await rm(folder, { recursive: true, force: true })
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`
  const file = async (name: string, content: object | string) => {
    const path = join(folder, name)
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  }
  return { url, asked, file }
}

const { signal } = new AbortController()

describe('credentials', () => {
  it('come from the key of a service account', async () => {
    const { url, asked, file } = await tokenEndpoint()
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const keyFile = await file('key.json', {
      type: 'service_account',
      client_email: 'runbridge@shop.iam.gserviceaccount.com',
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      private_key_id: 'k1',
      token_uri: url,
    })
    const headers = await ready(await credentials({ keyFile }), signal)
    expect(headers.get('authorization')).toMatch(/^Bearer /)
    expect(asked).toEqual([])
  })

  it('come from workload identity federation', async () => {
    const { url, asked, file } = await tokenEndpoint()
    const subject = await file('subject', 'token-of-the-cluster')
    const keyFile = await file('federation.json', {
      type: 'external_account',
      audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: url,
      credential_source: { file: subject },
    })
    const headers = await ready(await credentials({ keyFile }), signal)
    expect(headers.get('authorization')).toBe('Bearer made-here')
    expect(asked).toEqual([expect.stringContaining('token-of-the-cluster')])
  })

  it('that are not there are told as not sent, without paths', async () => {
    const auth = await credentials({ keyFile: '/nowhere/key.json' })
    await expect(ready(auth, signal)).rejects.toMatchObject({
      status: 'NOT_SENT',
      why: 'the key file is not there',
    })
  })

  it('that can not impersonate say so', async () => {
    const given = { keyFile: '/nowhere/key.json', impersonate: 'a@b.iam.gserviceaccount.com' }
    await expect(credentials(given)).rejects.toMatchObject({ code: 'unauthenticated' })
  })
})

describe('an endpoint', () => {
  for (const endpoint of [
    'http://workflows.example',
    'https://127.0.0.1:8443',
    'http://127.0.0.1.example:80',
    '127.0.0.1:80',
    'http://10.0.0.1',
  ]) {
    it(`${endpoint} can not stand in for Google`, async () => {
      await expect(createGoogleWorkflowsClients({ endpoint })).rejects.toMatchObject({
        code: 'misconfigured',
      })
    })
  }
})
