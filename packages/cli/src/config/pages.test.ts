import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { parseConfig } from './config.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const pages = [
  'README.md',
  'packages/cli/README.md',
  ...readdirSync(`${root}docs`).map((name) => `docs/${name}`),
]

/** What a page leaves out because it is about something else. */
const A_TOOL = `
tools:
  - name: another
    stepFunctions: { stateMachineArn: "arn:aws:states:eu-west-1:123456789012:stateMachine:Another" }
`
const A_CREDENTIAL = `
engines: { githubActions: { token: another } }
`

/** The YAML blocks of a page that begin with a key of the configuration, each with its line. */
function snippets(page: string): [where: string, yaml: string][] {
  const text = readFileSync(root + page, 'utf8')
  return [...text.matchAll(/^( *)```yaml\n(.*?)^ *```/gms)].flatMap(
    ({ index, 1: indent = '', 2: block = '' }) => {
      const yaml = block.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
      const known = /^(?:#[^\n]*\n)*(?:server|store|engines|tools):/.test(yaml)
      return known ? [[`${page}:${text.slice(0, index).split('\n').length}`, yaml]] : []
    },
  )
}

it.each(pages.flatMap(snippets))('%s is a configuration that can be taken as it is', (_, yaml) => {
  const whole =
    (/^tools:/m.test(yaml) ? yaml : yaml + A_TOOL) +
    (/githubActions:/.test(yaml) && !/^engines:/m.test(yaml) ? A_CREDENTIAL : '')
  const named = [...whole.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => [
    name,
    'a value of thirty-two characters',
  ])
  const result = parseConfig(whole, Object.fromEntries(named))
  expect(result.ok ? [] : result.problems).toEqual([])
})
