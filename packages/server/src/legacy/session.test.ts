import { manualClock } from '@runbridge/core/testing'
import { expect, it } from 'vitest'
import { createSession } from './session.js'
import { heldState } from './session-state.js'

const open = () => {
  const clock = manualClock()
  const record = {
    id: 'ses_1',
    version: 1,
    owner: 'local',
    protocolVersion: '2025-11-25',
    clientInfo: {},
    capabilities: {},
    questions: [],
    calls: [],
    createdAt: clock.now(),
    seenAt: clock.now(),
  }
  const state = heldState(record, clock.sleep)
  const wire = { send: async () => {}, listening: () => true }
  return createSession({ clock } as never, { record, state, wire, identified: true })
}

it('remembers the newest calls, and no more of them than one caller can have open', async () => {
  const session = open()
  for (let n = 1; n <= 1_005; n += 1)
    await session.addCall({ requestId: n, taskId: `tsk_${n}`, form: 'core-2025-11-25' })
  const calls = await session.calls()
  expect([calls.length, calls.at(0)?.taskId, calls.at(-1)?.taskId]).toEqual([1_000, 'tsk_6', 'tsk_1005'])
})

it('knows the newest of the questions that it sent, and no more of them than a client has out', async () => {
  const { questions } = open()
  const elicitation = { method: 'elicitation/create', params: {} } as const
  for (let n = 1; n <= 205; n += 1) await questions.ask(elicitation, { taskId: 'tsk_1', key: `k.${n}` }, {})
  const out = [1, 5, 6, 205].map((n) => questions.isOut('tsk_1', `k.${n}`))
  expect(out).toEqual([false, false, true, true])
})
