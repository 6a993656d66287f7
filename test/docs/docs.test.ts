import { expect, test } from 'vitest'
import { filled } from './blocks.mjs'
import { checkLinks } from './links.mjs'
import { pages } from './pages.mjs'

const page = (text: string) => ({ path: 'docs/page.md', text })

test('tables and snippets are written between their marks, and nothing else changes', () => {
  const before =
    'a\n<!-- table: t -->\nold\n<!-- /table -->\nb\n<!-- file: .nvmrc -->\n```text\nold\n```\nc\n'
  const { text, tables, snippets, problems } = filled(page(before), { t: () => '| x |' })
  expect(text).toBe(
    'a\n<!-- table: t -->\n\n| x |\n\n<!-- /table -->\nb\n<!-- file: .nvmrc -->\n```text\n20.20\n```\nc\n',
  )
  expect([tables, snippets, problems]).toEqual([1, 1, []])
  expect(filled(page(text), { t: () => '| x |' }).text).toBe(text)
})

test('an unknown table and a missing file are problems and change nothing', () => {
  const before = '<!-- table: t -->\n<!-- /table -->\n<!-- file: gone.ts -->\n```ts\n```\n'
  const { text, problems } = filled(page(before), {})
  expect(text).toBe(before)
  expect(problems).toHaveLength(2)
})

test.each([
  ['[a](../README.md)', 0],
  ['[a](../CONTRIBUTING.md#add-a-store)', 0],
  ['[a](https://example.com/nowhere)', 0],
  ['`packages/core/src/run.ts`', 0],
  ['```\n[a](gone.md)\n```', 0],
  ['[a](gone.md)', 1],
  ['[a](../CONTRIBUTING.md#no-such-heading)', 1],
  ['[a][b]\n\n[b]: gone.md', 1],
  ['[a](../../outside.md)', 1],
  ['`packages/core/src/gone.ts`', 1],
])('%s has %i broken links', (text, broken) => {
  expect(checkLinks(page(text)).problems).toHaveLength(broken)
})

test('no page of the project mentions a file that is not there', () => {
  expect(pages().length).toBeGreaterThan(3)
  expect(pages().flatMap((found) => checkLinks(found).problems)).toEqual([])
})
