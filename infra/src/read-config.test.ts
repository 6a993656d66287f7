import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readConfig } from './read-config.js'

const folder = mkdtempSync(join(tmpdir(), 'runbridge-read-config-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function file(text: string): string {
  const path = join(folder, 'runbridge.yaml')
  writeFileSync(path, text)
  return path
}

const TOOL = `
  - name: order
    stepFunctions: { stateMachineArn: "arn:aws:states:eu-north-1:111122223333:stateMachine:order" }`

describe('roles', () => {
  const ROLE = 'arn:aws:iam::111122223333:role'
  const read = (engine: string) =>
    readConfig(
      file(`
store: { dynamodb: { table: t, region: eu-north-1 } }
engines: { stepFunctions: ${engine} }
tools:${TOOL}
`),
      [],
    )

  it('of owners are assumed by the function, each once, which only describes then', () => {
    const owners = `roles: { local: "${ROLE}/a", '["subject","i","b"]': "${ROLE}/b", '["subject","i","c"]': "${ROLE}/b" }`
    const { assumeRoles, stateMachines } = read(`{ ${owners} }`)
    expect(assumeRoles).toEqual([`${ROLE}/a`, `${ROLE}/b`])
    expect(stateMachines).toMatchObject([{ byRoles: true }])
    expect(read(`{ roleArn: "${ROLE}/hub", ${owners} }`).assumeRoles).toEqual([`${ROLE}/hub`])
  })

  it('are none where none is configured', () => {
    const { assumeRoles, stateMachines } = read('{}')
    expect([assumeRoles, stateMachines[0]?.byRoles]).toEqual([[], undefined])
  })
})

describe('a state machine of several tools', () => {
  const read = (...tools: string[]) => {
    const listed = tools.map((tool) => TOOL.replace('name: order', tool)).join('')
    const path = file(`
store: { dynamodb: { table: t, region: eu-north-1 } }
tools:${listed}
`)
    return readConfig(path, []).stateMachines
  }
  const WATCH = 'name: watch\n    attach: true'
  const STOP = 'name: stop\n    attach: true\n    cancelAttached: true'

  it('is started and stopped where one of them does', () => {
    expect(read(WATCH)).toMatchObject([{ starts: false, stops: false }])
    expect(read(WATCH, STOP)).toMatchObject([{ starts: false, stops: true }])
    expect(read(WATCH, 'name: order')).toMatchObject([{ starts: true, stops: true }])
    expect(read('name: order', WATCH)).toMatchObject([{ starts: true, stops: true }])
  })
})

describe('secrets, whose values nobody knows before the stack is deployed', () => {
  it('may be the hashes of tokens', () => {
    const path = file(`
server:
  auth:
    tokens:
      - { name: a, sha256: "\${A}" }
      - { name: b, sha256: "\${B}" }
store: { dynamodb: { table: "\${RUNBRIDGE_TABLE}", region: "\${AWS_REGION}" } }
tools:${TOOL}
`)
    expect(readConfig(path, ['A', 'B'])).toMatchObject({ store: 'dynamodb' })
    expect(() => readConfig(path, ['A'])).toThrow(/runbridge\.yaml:6 .*\bB\b/)
  })

  it('may be the keys that seal', () => {
    const path = file(`
server: { auth: { tokens: [{ name: a, sha256: "\${A}" }] } }
store: { sealed: { keys: ["\${NEW}", "\${OLD}"] } }
tools:${TOOL}
`)
    expect(readConfig(path, ['A', 'NEW', 'OLD'])).toMatchObject({ store: 'sealed' })
  })
})
