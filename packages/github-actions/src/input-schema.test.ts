import { describe, expect, it } from 'vitest'
import { inputsOf, parseTrigger } from './input-schema.js'

const trigger = (text: string, more = {}) =>
  parseTrigger(text, { id: 'o/r/ci.yml', ...more }, 'ci.yml of o/r at main')

const ALL = `
run-name: Deploy \${{ inputs.version }} (\${{ inputs.runbridge_key }})
on:
  push:
  workflow_dispatch:
    inputs:
      version: { description: What to deploy, required: true }
      notes: { type: string, default: 7 }
      dry: { type: boolean, default: 'true', required: true }
      replicas: { type: number, required: true }
      size: { type: choice, options: [s, m, 1], default: m }
      target: { type: environment, required: true }
      odd:
      runbridge_key: { type: string, required: true }
`

describe('the schema of the arguments', () => {
  it('has every type of input, what is required, and the defaults', () => {
    expect(trigger(ALL)).toEqual({
      takesKey: true,
      findable: true,
      schema: {
        type: 'object',
        additionalProperties: false,
        required: ['version', 'replicas', 'target'],
        properties: {
          version: { type: 'string', description: 'What to deploy' },
          notes: { type: 'string', default: '7' },
          dry: { type: 'boolean', default: true },
          replicas: { type: 'number' },
          size: { type: 'string', enum: ['s', 'm', '1'], default: 'm' },
          target: { type: 'string', title: 'Name of an environment' },
          odd: { type: 'string' },
        },
      },
    })
  })

  it.each(['on: workflow_dispatch', 'on: [push, workflow_dispatch]', 'on:\n  workflow_dispatch:'])(
    'is empty for %j',
    (text) => {
      expect(trigger(text).schema).toEqual({ type: 'object', properties: {}, additionalProperties: false })
    },
  )

  it.each([
    ['no trigger', 'on: push', 'workflow_dispatch'],
    ['no map', 'just text', 'no workflow file'],
    ['no YAML', 'on: [', 'no YAML'],
    [
      'an alias bomb',
      `a: &a [x]\nb: &b [${'*a,'.repeat(50)}]\nc: &c [${'*b,'.repeat(50)}]\nd: [${'*c,'.repeat(50)}]`,
      'no YAML',
    ],
  ])('refuses %s', (_, text, message) => {
    expect(() => trigger(text)).toThrow(message)
  })

  it('refuses more inputs than GitHub takes', () => {
    const inputs = (count: number) =>
      `on: { workflow_dispatch: { inputs: { ${Array.from({ length: count }, (_, each) => `i${each}: {}`).join(', ')} } } }`
    expect(() => trigger(inputs(25))).not.toThrow()
    expect(() => trigger(inputs(26))).toThrow('26 inputs')
  })

  it('refuses an argument for the ref that is an input too', () => {
    const text = 'on: { workflow_dispatch: { inputs: { ref: {} } } }'
    expect(() => trigger(text, { refs: ['a', 'b'] })).toThrow('refArgument')
    const { schema } = trigger(text, { refs: ['a', 'b'], refArgument: 'branch' })
    expect(Object.keys(schema.properties as object)).toEqual(['ref', 'branch'])
  })
})

describe('whether a run shows its key', () => {
  const file = (runName: string) =>
    `run-name: ${JSON.stringify(runName)}\non: { workflow_dispatch: { inputs: { runbridge_key: {} } } }`
  it.each([
    [`x \${{ inputs.runbridge_key }}`, true],
    [`\${{inputs.runbridge_key}}`, true],
    [`\${{ format('{0}', github.event.inputs.runbridge_key) }}`, true],
    [`\${{ inputs.runbridge_key_2 }}`, false],
    ['inputs.runbridge_key', false],
    [`\${{ inputs.other }} inputs.runbridge_key`, false],
  ])('%s', (runName, expected) => {
    expect(trigger(file(runName)).findable).toBe(expected)
  })
  it('needs the input', () => {
    const text = `run-name: \${{ inputs.runbridge_key }}\non: workflow_dispatch`
    expect(trigger(text)).toMatchObject({ takesKey: false, findable: false })
  })
})

it('sends texts alone, and counts the key', () => {
  expect(inputsOf({ a: true, b: 1.5, c: 'x', d: undefined, e: null }, { name: 'k', value: 'rb' })).toEqual({
    a: 'true',
    b: '1.5',
    c: 'x',
    k: 'rb',
  })
  const many = Object.fromEntries(Array.from({ length: 25 }, (_, each) => [`i${each}`, 'x']))
  expect(() => inputsOf(many, undefined)).not.toThrow()
  expect(() => inputsOf(many, { name: 'k', value: 'rb' })).toThrow('26 inputs')
})
