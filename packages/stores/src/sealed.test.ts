import { randomBytes } from 'node:crypto'
import { MAX_TASK_ID } from '@runbridge/core'
import { NOON, storeSuite, taskRecord } from '@runbridge/core/testing'
import fc from 'fast-check'
import * as vitest from 'vitest'
import { describe, expect, it } from 'vitest'
import { sealed } from './sealed.js'

const now = () => NOON
const key = () => randomBytes(32).toString('base64')

storeSuite(vitest, {
  name: 'sealed',
  capabilities: { durable: true, multiProcess: true, keeps: false },
  open: async () => {
    const keys = [key()]
    const open = async () => sealed({ keys, now })
    return { store: await open(), join: open, reopen: open, dispose: async () => {} }
  },
  forAll: (check) => fc.assert(fc.asyncProperty(fc.array(fc.nat()), check)),
})

describe('sealed', () => {
  const idOf = (store: ReturnType<typeof sealed>, changes = {}) => store.idOf?.(taskRecord(changes)) ?? ''
  const find = async (store: ReturnType<typeof sealed>, taskId: string) =>
    (await store.get({ owner: 'local', taskId }))?.run?.id

  it('goes on with old ids while keys are rotated, until their key is gone', async () => {
    const [old, next] = [key(), key()]
    const steps = [[old], [old, next], [next, old], [next]].map((keys) => sealed({ keys, now }))
    const [before, adding, moved, after] = steps as [never, never, never, never]
    const first = idOf(before)
    expect(await find(adding, first)).toBe('run-1')
    expect(await find(moved, first)).toBe('run-1')
    expect(await find(after, first)).toBeUndefined()
    const second = idOf(moved)
    // Replicas that are a step behind know it too.
    expect(await find(adding, second)).toBe('run-1')
    expect(await find(after, second)).toBe('run-1')
    expect(await find(before, second)).toBeUndefined()
  })

  it('knows an id no longer than it is told to', async () => {
    let time = NOON
    const store = sealed({ keys: [key()], maxAgeMs: 1_000, now: () => time })
    const id = idOf(store)
    time = NOON + 1_000
    expect(await find(store, id)).toBe('run-1')
    time = NOON + 1_001
    expect(await find(store, id)).toBeUndefined()
    // Clocks may jump back.
    time = 0
    expect(await find(store, id)).toBe('run-1')
  })

  it.each([
    ['no key', []],
    ['a short key', ['x'.repeat(31)]],
    ['a key twice', ['x'.repeat(32), 'y'.repeat(32), 'x'.repeat(32)]],
  ])('refuses %s, and shows none', (_, keys) => {
    expect(() => sealed({ keys })).toThrow(expect.objectContaining({ code: 'misconfigured' }))
    expect(() => sealed({ keys })).not.toThrow(/xxx|yyy/)
  })

  it('refuses before the start what would make its id too long', async () => {
    const store = sealed({ keys: [key()] })
    const workflow = randomBytes(120).toString('hex')
    expect(await store.create(taskRecord({ tool: randomBytes(64).toString('hex'), workflow }))).toBe(
      'created',
    )
    await expect(store.create(taskRecord({ workflow: workflow.repeat(2) }))).rejects.toMatchObject({
      code: 'too_large',
      message: expect.stringContaining('Nothing was started'),
    })
    const run = { id: randomBytes(800).toString('base64'), attempt: 0 }
    expect(() => store.idOf?.(taskRecord({ run }))).toThrow(expect.objectContaining({ code: 'too_large' }))
  })

  it('makes an id of everything that it lets start', async () => {
    const store = sealed({ keys: [key()], now })
    const hex = (bytes: number) =>
      fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((b) => Buffer.from(b).toString('hex'))
    await fc.assert(
      fc.asyncProperty(
        fc.nat(64).chain(hex),
        fc.nat(200).chain(hex),
        hex(150),
        async (tool, workflow, id) => {
          const record = taskRecord({ tool, workflow, run: { id, attempt: 1 } })
          const started = await store.create(record).catch(() => 'refused')
          if (started === 'created') expect(idOf(store, record).length).toBeLessThanOrEqual(MAX_TASK_ID)
        },
      ),
    )
  })

  it('derives secrets from its first key', async () => {
    const keys = [key(), key()]
    const [one, two] = [sealed({ keys }), sealed({ keys: [...keys].reverse() })]
    const secret = await one.secret('request-state')
    expect(secret).toHaveLength(32)
    expect(await sealed({ keys }).secret('request-state')).toEqual(secret)
    expect(await one.secret('another')).not.toEqual(secret)
    expect(await two.secret('request-state')).not.toEqual(secret)
  })
})
