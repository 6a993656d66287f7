import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ownerSession } from './owner-session.js'

it('names the session for the subject, and gives its hash as the external id', () => {
  const owner = '["subject","https://login.example.com","ada@example.com"]'
  // As `printf %s "$OWNER" | sha256sum` prints it.
  const hash = '31898934931c24054efc020881d72f3fa480d2e999d18b476d681655eae06ec1'
  expect(ownerSession(owner)).toEqual({
    RoleSessionName: 'runbridge-ada@example.com-31898934931c',
    ExternalId: hash,
  })
})

it.each([
  ['local', /^runbridge-local-/],
  ['["subject","https://i","Ada Lövelace|7"]', /^runbridge-Ada-L-velace-7-/],
  ['["iam","123456789012","AROAEXAMPLE"]', /^runbridge-AROAEXAMPLE-/],
  ['x'.repeat(90), /^runbridge-x{41}-[0-9a-f]{12}$/],
])('of %s shows what the rules of STS let it', (owner, name) => {
  expect(ownerSession(owner).RoleSessionName).toMatch(name)
})

it('keeps to the rules of STS, and tells any two owners apart', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.string({ maxLength: 200 }),
      (one, other) => {
        const [a, b] = [ownerSession(one), ownerSession(other)]
        expect(a.RoleSessionName).toMatch(/^[\w+=,.@-]{2,64}$/)
        expect(a.ExternalId).toMatch(/^[\w+=,.@:/-]{2,1224}$/)
        if (one !== other) expect(a).not.toEqual(b)
        if (one !== other) expect(a.RoleSessionName).not.toBe(b.RoleSessionName)
      },
    ),
  )
})
