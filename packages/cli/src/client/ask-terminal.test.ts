import { expect, it } from 'vitest'
import { fieldPrompt } from './ask-terminal.js'

it.each([
  ['version', {}, 'version (string): '],
  ['count', { type: 'integer', title: 'Count' }, 'Count (integer): '],
  ['count', { title: 'Count\u001b[2J' }, 'Count\\u001b[2J (string): '],
  [
    'confirm',
    { type: 'boolean', title: 'Start it', description: 'Nothing starts without.' },
    'Start it. Nothing starts without (yes, no): ',
  ],
  ['decision', { type: 'string', enum: ['approve', 'reject'] }, 'decision (approve, reject): '],
  [
    'size',
    {
      type: 'string',
      oneOf: [
        { const: 's', title: 'Small' },
        { const: 'l', title: 'Large' },
      ],
    },
    'size (s, l): ',
  ],
])('says what can be typed for %s', (name, field, prompt) => {
  expect(fieldPrompt(name, field)).toBe(prompt)
})
