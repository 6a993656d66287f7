import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openStore } from './open-store.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runbridge-store-'))
})
afterEach(() => rm(folder, { recursive: true }))

it('makes the folder of a SQLite file for its owner alone', async () => {
  const path = join(folder, 'a', 'b', 'tasks.sqlite')
  await (await openStore({ sqlite: { path } })).close()
  expect((await stat(join(folder, 'a', 'b'))).mode & 0o777).toBe(0o700)
})

it('says what to change where the folder can not be made', async () => {
  const file = join(folder, 'file')
  await writeFile(file, '')
  const path = join(file, 'below', 'tasks.sqlite')
  await expect(openStore({ sqlite: { path } })).rejects.toMatchObject({
    code: 'misconfigured',
    message: expect.stringContaining('is not a folder. Make it, or name another file'),
  })
})
