import assert from 'node:assert/strict'
import type { SessionRecord, SessionStore } from '../session.js'
import type { SuiteRunner } from './runner.js'
import { plain, rejectsWith } from './store-suite/expect.js'
import { NOON } from './task-record.js'

/** A store without sessions, for one test. */
export interface OpenSessions {
  readonly sessions: SessionStore
  close(): Promise<void>
  /** Where the store is durable: closes it, and opens what it kept as a new process would. */
  reopen?(): Promise<SessionStore>
  /** Where processes share it: one more store on the same sessions, as another process has it. */
  join?(): Promise<SessionStore>
  /** Closes everything that this test opened and removes what it left. */
  dispose(): Promise<void>
}

export interface SessionSuiteOptions {
  readonly name: string
  open(): Promise<OpenSessions>
}

/** A session for tests that need one and not its history. */
export function sessionRecord(changes: Partial<SessionRecord> = {}): SessionRecord {
  return {
    id: 'ses_1',
    version: 1,
    owner: 'local',
    protocolVersion: '2025-11-25',
    clientInfo: { name: 'test', version: '0' },
    capabilities: {},
    questions: [],
    calls: [],
    createdAt: NOON,
    seenAt: NOON,
    ...changes,
  }
}

/** Proves that a store keeps the contract of SessionStore. */
export function sessionSuite(runner: SuiteRunner, options: SessionSuiteOptions): void {
  const it = (name: string, test: (sessions: SessionStore, opened: OpenSessions) => Promise<void>) =>
    runner.it(name, async () => {
      const opened = await options.open()
      try {
        await test(opened.sessions, opened)
      } finally {
        await opened.dispose()
      }
    })

  runner.describe(`SessionStore: ${options.name}`, () => {
    it('keeps a session with every field, with version 1 whatever it came with', async (sessions) => {
      const full = sessionRecord({
        id: '!"#$%&\'()~',
        version: 9,
        owner: '["subject","https://issuer","a\u0000é\ud800"]',
        capabilities: { elicitation: { form: {} }, extensions: { __proto: [1, null, ''] } },
        questions: [
          { id: 'q1', task: { taskId: 'tsk_1', key: 'g.1' } },
          { id: 'q2', response: { action: 'accept', content: { ok: true, n: 1.5 } } },
        ],
        calls: [
          { requestId: 0, taskId: 'tsk_1', form: 'core-2025-11-25', progressToken: '' },
          { requestId: '0', taskId: 'mine', form: 'sep-1686', cancelled: true },
        ],
      })
      assert.equal(await sessions.create(full), 'created')
      assert.deepEqual(await sessions.get(full.id), plain({ ...full, version: 1 }))
    })

    it('leaves the present one as it is when it exists, and tells ids apart', async (sessions) => {
      await sessions.create(sessionRecord())
      assert.equal(await sessions.create(sessionRecord({ owner: 'other' })), 'exists')
      assert.deepEqual(await sessions.get('ses_1'), sessionRecord())
      for (const id of ['SES_1', 'ses_1 ', 'ses_', '']) assert.equal(await sessions.get(id), undefined)
    })

    it('knows nothing of what was never created', async (sessions) => {
      assert.equal(await sessions.get('ses_1'), undefined)
      assert.equal(await sessions.update(sessionRecord()), 'missing')
      assert.equal(await sessions.delete('ses_1'), false)
      assert.equal(await sessions.sweep(Number.MAX_SAFE_INTEGER, 10), 0)
    })

    it('updates from the present version only', async (sessions) => {
      await sessions.create(sessionRecord())
      assert.equal(await sessions.update(sessionRecord({ seenAt: NOON + 1 })), 'updated')
      for (const version of [0, 1, 3])
        assert.equal(await sessions.update(sessionRecord({ version, seenAt: NOON + 2 })), 'conflict')
      assert.deepEqual(await sessions.get('ses_1'), sessionRecord({ version: 2, seenAt: NOON + 1 }))
    })

    it('counts every successful compare-and-set of many at the same time', async (sessions) => {
      await sessions.create(sessionRecord())
      const add = async (id: string) => {
        for (;;) {
          const present = (await sessions.get('ses_1')) as SessionRecord
          const questions = [...present.questions, { id }]
          if ((await sessions.update({ ...present, questions })) === 'updated') return
        }
      }
      await Promise.all(Array.from({ length: 12 }, (_, index) => add(`q${index}`)))
      const kept = (await sessions.get('ses_1')) as SessionRecord
      assert.equal(kept.version, 13)
      assert.equal(new Set(kept.questions.map(({ id }) => id)).size, 12)
    })

    it('removes a session once', async (sessions) => {
      await sessions.create(sessionRecord())
      assert.equal(await sessions.delete('ses_1'), true)
      assert.equal(await sessions.delete('ses_1'), false)
      assert.equal(await sessions.get('ses_1'), undefined)
      assert.equal(await sessions.update(sessionRecord()), 'missing')
      assert.equal(await sessions.create(sessionRecord()), 'created')
    })

    it('sweeps what was last seen before, at most the limit', async (sessions) => {
      for (const [index, seenAt] of [NOON + 2, NOON, NOON + 1, NOON + 3].entries())
        await sessions.create(sessionRecord({ id: `ses_${index}`, seenAt }))
      await sessions.update(sessionRecord({ id: 'ses_1', seenAt: NOON + 9 }))
      assert.equal(await sessions.sweep(NOON + 1, 10), 0)
      assert.equal(await sessions.sweep(NOON + 3, 1), 1)
      assert.equal(await sessions.sweep(NOON + 3, 10), 1)
      const left = await Promise.all(['ses_0', 'ses_1', 'ses_2', 'ses_3'].map((id) => sessions.get(id)))
      assert.deepEqual(
        left.map((session) => session?.seenAt),
        [undefined, NOON + 9, undefined, NOON + 3],
      )
    })

    it('shares no object with its callers', async (sessions) => {
      const calls = [{ requestId: 1, taskId: 'tsk_1', form: 'sep-1686' as const }]
      await sessions.create(sessionRecord({ calls }))
      calls.pop()
      const got = (await sessions.get('ses_1')) as { calls: unknown[] } | undefined
      assert.equal(got?.calls.length, 1)
      got.calls.pop()
      assert.equal((await sessions.get('ses_1'))?.calls.length, 1)
    })

    it('goes on with them in another process and after the end of this one', async (sessions, opened) => {
      await sessions.create(sessionRecord())
      const other = await opened.join?.()
      if (other) {
        assert.equal(await other.update(sessionRecord({ seenAt: NOON + 1 })), 'updated')
        assert.equal(await sessions.update(sessionRecord()), 'conflict')
      }
      const kept = await sessions.get('ses_1')
      const again = await opened.reopen?.()
      if (again) assert.deepEqual(await again.get('ses_1'), kept)
    })

    it('is unavailable once the store is closed', async (sessions, opened) => {
      await sessions.create(sessionRecord())
      await opened.close()
      await rejectsWith('unavailable', () => sessions.create(sessionRecord()))
      await rejectsWith('unavailable', () => sessions.get('ses_1'))
      await rejectsWith('unavailable', () => sessions.update(sessionRecord()))
      await rejectsWith('unavailable', () => sessions.delete('ses_1'))
      await rejectsWith('unavailable', () => sessions.sweep(NOON, 10))
    })
  })
}
