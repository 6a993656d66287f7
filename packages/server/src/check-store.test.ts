import type { Backend, Capabilities } from '@runbridge/core'
import { DEFAULT_CAPABILITIES } from '@runbridge/core'
import { expect, it } from 'vitest'
import { checkStore } from './check-store.js'
import type { Tool } from './tool.js'

const lacks = { claim: 'nothing is kept', update: 'nothing is kept' }
const confirm = { message: 'Really?' }

function tool(changes: Partial<Tool>, capabilities: Partial<Capabilities> = {}): Tool {
  return {
    name: 'deploy',
    backend: {} as Backend,
    workflow: { id: 'wf' },
    capabilities: { ...DEFAULT_CAPABILITIES, start: 'idempotent', ...capabilities },
    ...changes,
  } as Tool
}

it.each<[string, Tool, string | undefined]>([
  ['a plain tool', tool({}), undefined],
  ['an idempotency key', tool({ idempotencyKey: ['a'] }), 'idempotencyKey'],
  ['a confirmation of an idempotent start', tool({ confirm }), undefined],
  ['a confirmation of a findable start', tool({ confirm }, { start: 'findable' }), 'confirm'],
  ['a confirmation of a blind start', tool({ confirm }, { start: 'blind' }), 'confirm'],
  ['a question for an argument', tool({ askFor: { a: confirm } }, { start: 'blind' }), 'askFor'],
  ['no question for an argument', tool({ askFor: {} }, { start: 'blind' }), undefined],
  ['a call', tool({ confirm }, { start: 'blind', execution: 'call' }), undefined],
])('%s', (_, each, problem) => {
  expect(() => checkStore({}, [each])).not.toThrow()
  if (problem === undefined) return expect(() => checkStore({ lacks }, [each])).not.toThrow()
  expect(() => checkStore({ lacks }, [each])).toThrow(
    expect.objectContaining({
      code: 'misconfigured',
      message: expect.stringMatching(
        new RegExp(`^deploy: .*${problem}.*: nothing is kept\\.\\n.*another store`),
      ),
    }),
  )
})

it('names every tool at once', () => {
  const tools = [tool({ name: 'one', idempotencyKey: ['a'] }), tool({ name: 'two', idempotencyKey: ['a'] })]
  expect(() => checkStore({ lacks }, tools)).toThrow(/^one: .*\ntwo: /)
})
