import { expect, it } from 'vitest'
import { ioTo } from './io.js'

function written(isTTY: boolean, text: string): string {
  const seen: string[] = []
  const output = { isTTY, write: (piece: string) => seen.push(piece) }
  ioTo(output, output).out(text)
  return seen.join('')
}

it.each([
  ['\u001b]52;c;cm0gLXJm\u0007Done', '\\u001b]52;c;cm0gLXJm\\u0007Done'],
  ['\u009b2J', '\\u009b2J'],
  ['Failed\rSucceeded', 'Failed\\u000dSucceeded'],
  ['admin\u202etxt', 'admin\\u202etxt'],
  ['one\r\ntwo\n\tü 👩‍💻', 'one\ntwo\n\tü 👩‍💻'],
])('a terminal is not steered by %j', (text, shown) => {
  expect(written(true, text)).toBe(`${shown}\n`)
})

it('who pipes a result gets it as it is', () => {
  expect(written(false, '\u001b[31mred\r\n')).toBe('\u001b[31mred\r\n\n')
})
