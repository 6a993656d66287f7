import { RunbridgeError } from '@runbridge/core'
import { expect, it } from 'vitest'
import { isBusy, storeError } from './errors.js'

it.each([
  ['SQLITE_BUSY', 'unavailable'],
  ['SQLITE_BUSY_SNAPSHOT', 'unavailable'],
  ['SQLITE_LOCKED_SHAREDCACHE', 'unavailable'],
  ['SQLITE_FULL', 'unavailable'],
  ['SQLITE_IOERR_FSYNC', 'unavailable'],
  ['SQLITE_CORRUPT_INDEX', 'unavailable'],
  ['SQLITE_NOTADB', 'misconfigured'],
  ['SQLITE_READONLY_DIRECTORY', 'misconfigured'],
  ['SQLITE_CANTOPEN_ISDIR', 'misconfigured'],
  ['SQLITE_PERM', 'misconfigured'],
  ['SQLITE_TOOBIG', 'too_large'],
  ['SQLITE_CONSTRAINT_NOTNULL', 'internal'],
])('takes %s for %s', (sqlite, code) => {
  const cause = Object.assign(new Error('a detail with /a/path'), { code: sqlite })
  const error = storeError(cause, 'The task store')
  expect(error).toMatchObject({ code, cause, message: expect.stringMatching(/^The task store .+\.$/) })
  expect(error.message).not.toContain('/a/path')
})

it('takes anything else for a defect, and leaves its own errors alone', () => {
  for (const thrown of [new TypeError('x'), 'x', undefined, { code: 5 }]) {
    expect(storeError(thrown, 'The task store').code).toBe('internal')
  }
  const own = new RunbridgeError('invalid_input', 'x')
  expect(storeError(own, 'The task store')).toBe(own)
})

it('waits for locks and for nothing else', () => {
  const busy = ['SQLITE_BUSY', 'SQLITE_BUSY_RECOVERY', 'SQLITE_LOCKED', 'SQLITE_FULL', undefined].filter(
    (code) => isBusy({ code }),
  )
  expect(busy).toEqual(['SQLITE_BUSY', 'SQLITE_BUSY_RECOVERY', 'SQLITE_LOCKED'])
})
