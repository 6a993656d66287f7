import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { githubActions } from './backend.js'
import { createGitHubClients } from './clients.js'
import { tokenOfGh } from './credentials.js'
import { CI, context, createWorld } from './testing/world.js'

it('an App signs for its installation, and gets a token that does the work', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const { emulator } = await createWorld({
    tokens: {},
    app: { id: 7, publicKey, installationId: 70, permissions: { actions: 'write', contents: 'read' } },
    // The App's signature carries the system's time.
    now: Date.now,
  })
  const clients = await createGitHubClients({
    credentials: { app: { appId: 7, privateKey, installationId: 70 } },
    baseUrl: emulator.url,
  })
  const backend = githubActions({ clients })
  expect((await backend.start(CI, 'rb-1', {}, context)).kind).toBe('started')

  const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const wrong = await createGitHubClients({
    credentials: {
      app: {
        appId: 7,
        installationId: 70,
        privateKey: String(other.export({ type: 'pkcs8', format: 'pem' })),
      },
    },
    baseUrl: emulator.url,
  })
  const refused = await githubActions({ clients: wrong }).start(CI, 'rb-2', {}, context)
  expect(refused).toMatchObject({ kind: 'refused', error: { code: 'unauthenticated' } })
})

it('a dispatch whose token could not be made was not sent', async () => {
  const { emulator, backend } = await createWorld({
    tokens: { 'secret-of-the-server': { login: 'robot', permissions: { contents: 'read' } } },
  })
  const result = await backend.start(CI, 'rb-1', {}, context)
  expect(result).toMatchObject({ kind: 'refused', error: { code: 'denied' } })
  expect(emulator.runs()).toEqual([])
})

it('the token of gh is asked of gh for the host, and never shown', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'runbridge-gh-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const command = (script: string) => {
    const file = join(folder, `gh-${script.length}`)
    writeFileSync(file, `#!/bin/sh\n${script}\n`)
    chmodSync(file, 0o755)
    return file
  }
  expect(await tokenOfGh('ghe.example.com', command('echo "$1 $2 $3 $4"'))).toBe(
    'auth token --hostname ghe.example.com',
  )
  for (const script of ['echo secret; exit 1', 'true']) {
    const error = await tokenOfGh('github.com', command(script)).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: 'unauthenticated' })
    expect(JSON.stringify([error.message, error.cause])).not.toContain('secret;')
  }
})

it.each(['ghe.example.com', 'http://ghe.example.com/api/v3', 'ftp://ghe.example.com'])(
  'sends no token to %s',
  async (baseUrl) => {
    const options = { credentials: { token: 't' }, baseUrl }
    await expect(createGitHubClients(options)).rejects.toMatchObject({ code: 'misconfigured' })
  },
)

it('works at the path of GitHub Enterprise Server', async () => {
  const { emulator } = await createWorld({ dispatch: 'none' })
  const clients = await createGitHubClients({ credentials: { token: 't' }, baseUrl: emulator.enterpriseUrl })
  expect(clients.host).toBe(new URL(emulator.url).host)
  const backend = githubActions({ clients })
  expect((await backend.start(CI, 'rb-1', {}, context)).kind).toBe('unknown')
  expect((await backend.find(CI, 'rb-1', context)).kind).toBe('found')
})
