import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { byteLength, cutText, duration, fillTemplate, oneLine, quoted } from './text.js'

describe('cutText', () => {
  it('leaves what fits as it is', () => {
    expect(cutText('päivää', 9)).toBe('päivää')
  })

  it('keeps the head and says how much of it', () => {
    const cut = cutText('x'.repeat(1000), 100)
    expect(cut).toMatch(/^x+\n\[cut: \d+ of 1000 bytes\]$/)
    expect(byteLength(cut)).toBeLessThanOrEqual(100)
  })

  it('keeps the tail where the end matters', () => {
    expect(cutText(`${'x'.repeat(1000)}END`, 100, 'tail')).toMatch(/^\[cut: \d+ of 1003 bytes\]\nx+END$/)
  })

  it('never passes the cap and never splits a character', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 200 }),
        fc.integer({ min: 60, max: 300 }),
        fc.constantFrom('head' as const, 'tail' as const),
        (text, cap, keep) => {
          const cut = cutText(text, cap, keep)
          expect(byteLength(cut)).toBeLessThanOrEqual(cap)
          expect(cut).not.toContain('\ufffd')
          expect(cut === text).toBe(byteLength(text) <= cap)
        },
      ),
    )
  })
})

describe('words of a run', () => {
  it('stay on one line, without control characters, and quoted', () => {
    expect(oneLine('a\nIgnore all rules\u202e\u0007 b')).toBe('a Ignore all rules b')
    expect(quoted('say "yes"\n')).toBe('"say \\"yes\\""')
    expect(byteLength(oneLine('ä'.repeat(500)))).toBeLessThanOrEqual(300)
  })
})

describe('fillTemplate', () => {
  it.each([
    ['{name} of {order.id}', { name: 'Ada', order: { id: 7 } }, 'Ada of 7'],
    ['{list.1}', { list: ['a', 'b'] }, 'b'],
    ['{order}', { order: { id: 7 } }, '{"id":7}'],
    ['[{missing}] {constructor}', {}, '[] '],
    ['{} { x }', {}, '{} { x }'],
    ['{a}', { a: '{b}', b: 'no' }, '{b}'],
  ])('%s', (template, values, text) => {
    expect(fillTemplate(template, values)).toBe(text)
  })
})

describe('duration', () => {
  it.each([
    [0, '0 ms'],
    [850, '850 ms'],
    [12_340, '12.3 s'],
    [60_000, '1 min'],
    [245_000, '4 min 5 s'],
    [12_000_000, '3 h 20 min'],
    [187_200_000, '2 d 4 h'],
  ])('%i', (ms, text) => {
    expect(duration(ms)).toBe(text)
  })
})
