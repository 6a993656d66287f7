import { describe, expect, it } from 'vitest'
import { compileConfig } from './compile-config.js'
import { readCompiled } from './compiled.js'
import { parseConfig } from './config.js'

const reference = (inside: string) => `\${${inside}}`
const ARN = 'arn:aws:states:us-east-1:000000000000:stateMachine:one'

/** As it is bundled: through JSON. */
function compiled(text: string) {
  return JSON.parse(JSON.stringify(compileConfig(text)))
}

const TEXT = `
server:
  title: "${reference('TITLE')}"
  instructions: '$${reference('NOT_A_REFERENCE')}'
engines:
  stepFunctions:
    readsPerSecond: ${reference('READS')}
store: { sealed: { keys: ["${reference('SEAL')}"] } }
tools:
  - name: one
    description: &text ${reference('TEXT:-It runs.')}
    stepFunctions: { stateMachineArn: "${ARN}" }
  - name: two
    description: *text
    progress: ${reference('PROGRESS')}
    stepFunctions: { stateMachineArn: "${ARN}" }
`
const ENV = { TITLE: '5', READS: '5', SEAL: 's'.repeat(32), PROGRESS: 'true' }

describe('a compiled configuration', () => {
  it('is the one that its text is', () => {
    const parsed = parseConfig(TEXT, ENV)
    expect(parsed).toMatchObject({ ok: true, config: { server: { title: '5' } } })
    expect({ ok: true, config: readCompiled(compiled(TEXT), ENV) }).toEqual(parsed)
  })

  it('is refused for what is unset, without the value that the schema would refuse then', () => {
    const { READS, ...rest } = ENV
    expect(() => readCompiled(compiled(TEXT), rest)).toThrow(
      /^The configuration has problems:\n {2}engines\.stepFunctions\.readsPerSecond: the environment variable READS is not set[^\n]*$/,
    )
  })

  it('is refused for what its values are', () => {
    expect(() => readCompiled(compiled(TEXT), { ...ENV, PROGRESS: 'maybe' })).toThrow('tools[1].progress: ')
  })

  const withSchemas = (schemas: string) => compileConfig(`tools:\n  - { name: one, ${schemas} }`)

  it('is made with the schemas of its tools checked, unless they depend on the environment', () => {
    expect(withSchemas('input: { type: object }, output: { type: object }').schemasChecked).toBe(true)
    expect(withSchemas('description: none').schemasChecked).toBe(true)
    const title = `"${reference('TITLE')}"`
    expect(withSchemas(`input: { type: object, title: ${title} }`).schemasChecked).toBe(false)
  })

  it.each(['input', 'output'])('is not made of an %s that is no JSON Schema', (key) => {
    expect(() => withSchemas(`${key}: { type: object, required: [a, a] }`)).toThrow(
      `tools[0].${key} is no valid JSON Schema 2020-12: /required must NOT have duplicate items`,
    )
  })

  it('is not made of what is no YAML', () => {
    expect(() => compileConfig('tools: [')).toThrow(/^Line 1 of the configuration is not YAML: /)
  })
})
