import { describe, expect, it } from 'vitest'
import { stepFunctions } from './backend.js'
import { awsError, context, MACHINE, networkError, scriptedClients } from './testing/scripted-clients.js'

const times = { startDate: new Date(1000), stopDate: new Date(1500) }

function call(answer: object | Error, id = MACHINE) {
  const clients = scriptedClients({ StartSyncExecution: answer })
  const backend = stepFunctions({ clients })
  if (!backend.call) throw new Error('no call')
  return backend.call({ id }, { a: 1 }, context).then((result) => ({ result, clients }))
}

describe('an Express execution', () => {
  it('is sent once, by the client that waits long enough', async () => {
    const { result, clients } = await call({ ...times, status: 'SUCCEEDED', output: '{"ok":true}' })
    expect(clients.sent).toEqual([
      {
        client: 'sync',
        command: 'StartSyncExecution',
        input: { stateMachineArn: MACHINE, input: '{"a":1}' },
      },
    ])
    expect(result).toMatchObject({
      kind: 'ended',
      snapshot: {
        state: 'succeeded',
        nativeState: 'SUCCEEDED',
        output: { ok: true },
        startedAt: 1000,
        endedAt: 1500,
      },
    })
  })
  it.each([
    [
      { status: 'FAILED', error: 'Boom', cause: 'It broke.' },
      'failed',
      { code: 'Boom', message: 'It broke.' },
    ],
    [{ status: 'TIMED_OUT' }, 'timed_out', { code: 'States.Timeout', message: 'The execution timed out.' }],
  ])('that fails ends too, although AWS answers 200: %j', async (answer, state, error) => {
    const { result } = await call({ ...times, ...answer })
    expect(result).toMatchObject({ kind: 'ended', snapshot: { state, error } })
  })
  it.each([
    ['AccessDeniedException', 'denied'],
    ['ThrottlingException', 'throttled'],
    ['StateMachineTypeNotSupported', 'unsupported'],
    ['StateMachineDoesNotExist', 'workflow_not_found'],
  ])('is refused: %s', async (name, code) => {
    expect((await call(awsError(name))).result).toMatchObject({ kind: 'refused', error: { code } })
  })
  it.each([
    ['a lost answer', networkError('ECONNRESET')],
    ['a 503', awsError('ServiceUnavailable', '', 503)],
    ['an abort', Object.assign(new Error(), { name: 'AbortError' })],
  ])('may have run: %s', async (_, error) => {
    const { result } = await call(error)
    if (result.kind !== 'unknown') throw new Error(result.kind)
    expect(result.error.code).toBe('unknown_outcome')
  })
  it('with a status that nobody knows is no end', async () => {
    expect((await call({ ...times, status: 'PAUSED' })).result.kind).toBe('unknown')
  })
  it('with too large an input or a wrong ARN is not sent', async () => {
    expect((await call({}, 'x')).result).toMatchObject({ kind: 'refused', error: { code: 'misconfigured' } })
    const clients = scriptedClients({})
    const large = { text: 'a'.repeat(262_144) }
    const result = await stepFunctions({ clients }).call?.({ id: MACHINE }, large, context)
    expect(result).toMatchObject({ kind: 'refused', error: { code: 'too_large' } })
  })
})
