import fc from 'fast-check'
import { expect, it } from 'vitest'
import { page, pageStart } from './page-token.js'

it('gives every item once, in order, and no token with the last page', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.integer({ min: 1, max: 20 }), (items, size) => {
      const seen: number[] = []
      let token: string | undefined
      do {
        const next = page('list', items, size, token)
        seen.push(...next.items)
        token = next.nextToken
      } while (token !== undefined)
      expect(seen).toEqual(items)
    }),
  )
})

it('takes no token of another list', () => {
  const { nextToken } = page('one', [1, 2], 1, undefined)
  expect(pageStart('one', nextToken)).toBe(1)
  expect(() => pageStart('other', nextToken)).toThrow('Invalid token')
})
