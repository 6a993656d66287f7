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
