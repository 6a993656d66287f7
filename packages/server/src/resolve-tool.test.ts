import { type Backend, RunbridgeError } from '@runbridge/core'
import { type FakeBackendOptions, fakeBackend, manualClock } from '@runbridge/core/testing'
import { describe, expect, it } from 'vitest'
import { resolveTool, type ToolOptions } from './resolve-tool.js'

const signal = new AbortController().signal

function resolve(options: Partial<ToolOptions> = {}, engine: Partial<FakeBackendOptions> = {}) {
  const backend = fakeBackend({ clock: manualClock(), ...engine })
  const base = { name: 'order', backend: backend as Backend, workflow: { id: 'wf' }, description: 'Orders.' }
  return resolveTool({ ...base, ...options }, { signal })
}

describe('resolveTool', () => {
  it('takes from the workflow what the configuration leaves out', async () => {
    const description = { title: 'Order', description: 'From the engine.', inputSchema: { properties: {} } }
    expect(await resolve({ description: undefined }, { description })).toMatchObject({
      title: 'Order',
      description: 'From the engine.',
      inputSchema: { type: 'object', properties: {} },
      taskSupport: 'optional',
      humanInput: 'off',
      unanswerable: 'refuse',
      holdMs: 45_000,
      retainMs: 86_400_000,
      progress: true,
      onAbandon: 'continue',
    })
  })

  it('a workflow that executes as a call is forbidden to be a task', async () => {
    const tool = await resolve({}, { capabilities: { execution: 'call' } })
    expect(tool.taskSupport).toBe('forbidden')
  })

  const inputSchema = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      more: { type: 'string' },
      list: { type: 'array' },
      password: { type: 'string', format: 'password' },
    },
    required: ['name', 'list', 'password'],
  }
  const ask = { message: '?' }

  it.each<[string, Partial<ToolOptions>, Partial<FakeBackendOptions>?]>([
    ['the name must be', { name: 'two words' }],
    ['belongs to a tool of Runbridge', { name: 'task_status' }],
    ['write `description`', { description: undefined }],
    ['only for workflows that end within one call', { taskSupport: 'forbidden' }],
    ['nothing to follow', { taskSupport: 'required' }, { capabilities: { execution: 'call' } }],
    ['needs a workflow that can wait', { humanInput: 'model' }, { capabilities: { gates: false } }],
    ['`type: object` at its root', { inputSchema: { type: 'array' } }],
    ['the input schema: $ref', { inputSchema: { properties: { a: { $ref: 'https://example.com/a' } } } }],
    ['the output schema is no valid', { outputSchema: { properties: { a: { type: 'objekt' } } } }],
    ['only objects are structured results', { outputSchema: { type: 'array' } }],
    ['is no argument of the input schema', { inputSchema, idempotencyKey: ['name', 'nobody'] }],
    ['`idempotencyKey` is empty', { inputSchema, idempotencyKey: [] }],
    [
      'needs a task that equal calls can get',
      { inputSchema, idempotencyKey: ['name'] },
      { capabilities: { execution: 'call' } },
    ],
    ['leave it out with `attach: true`', { attach: true, idempotencyKey: ['run'] }],
    ['only for tools with `attach: true`', { cancelAttached: true }],
    ['would stop runs that were started elsewhere', { attach: true, onAbandon: 'cancel' }],
    ['needs runs that can be stopped', { onAbandon: 'cancel' }, { capabilities: { cancel: false } }],
    [
      'needs a run that goes on after the call',
      { onAbandon: 'cancel' },
      { capabilities: { execution: 'call' } },
    ],
    ['there is nothing to watch', { attach: true }, { capabilities: { execution: 'call' } }],
    ['one required string', { attach: true, inputSchema }],
    ['one required string', { attach: true, inputSchema: { properties: { id: { type: 'string' } } } }],
    [
      'one required string',
      { attach: true, inputSchema: { properties: { id: { type: 'number' } }, required: ['id'] } },
    ],
    ['`holdMs` must be', { holdMs: 600_000 }],
    ['`retainMs` must be', { retainMs: 0 }],
    ['names no argument', { inputSchema, askFor: { nobody: ask } }],
    ['only required arguments', { inputSchema, askFor: { more: ask } }],
    ['a form can only ask', { inputSchema, askFor: { list: ask } }],
    ['no secret', { inputSchema, askFor: { password: ask } }],
    [
      'used for two questions',
      { inputSchema, askFor: { name: { message: '?', key: 'confirm' } }, confirm: ask },
    ],
  ])('%s', async (words, options, engine) => {
    await expect(resolve(options, engine)).rejects.toMatchObject({
      code: 'misconfigured',
      message: expect.stringMatching(new RegExp(`^Tool .*: .*${words.replace(/[$`.*]/g, '\\$&')}`)),
    })
  })

  it('names the run of a tool that watches as its input schema does', async () => {
    const properties = { execution: { type: 'string' } }
    const tool = await resolve({ attach: true, inputSchema: { properties, required: ['execution'] } })
    expect(tool.attach).toEqual({ argument: 'execution', cancel: false })
  })

  it('refuses to watch where the engine can’t', async () => {
    const { attach: _, ...backend } = fakeBackend({ clock: manualClock(), name: 'other' })
    await expect(resolve({ attach: true, backend })).rejects.toMatchObject({
      message: expect.stringContaining('other can not watch'),
    })
  })

  it('names the tool when its workflow can not be described', async () => {
    const backend = fakeBackend({ clock: manualClock() })
    backend.describe = async () => {
      throw new RunbridgeError('workflow_not_found', 'There is no state machine wf.')
    }
    await expect(resolve({ backend })).rejects.toMatchObject({
      code: 'workflow_not_found',
      message: 'Tool order: There is no state machine wf.',
    })
  })
})
