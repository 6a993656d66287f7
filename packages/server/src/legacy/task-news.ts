import { isTerminal, RunbridgeError, type SessionCall } from '@runbridge/core'
import type { App } from '../app.js'
import type { Followers } from '../followers.js'
import { olderForm } from './forms.js'
import { lookAt } from './look.js'
import type { OlderForm, Seen } from './older-form.js'
import { taskProgress } from './progress.js'
import { questionsToAsk } from './questions-to-ask.js'
import type { Session } from './session.js'

/**
 * Tells the client of a session what becomes of its tasks, on the stream of the session itself: status and
 * progress where the form has them, and after a while the questions that nothing else has put. Follows tasks only
 * while somebody reads that stream.
 */
export interface TaskNews {
  /** Begins to tell, of tasks from before too. */
  start(): Promise<void>
  /** Nobody reads any more. */
  stop(): void
}

export function taskNews(app: App, session: Session, followers: Followers): TaskNews {
  const watched = new Map<string, () => void>()
  let started = false

  function watch(call: SessionCall): void {
    const form = olderForm(call)
    if (!started || !form || watched.has(call.taskId)) return
    watched.set(
      call.taskId,
      teller(app, session, followers, form, call, () => unwatch(call.taskId)),
    )
  }

  function unwatch(taskId: string): void {
    watched.get(taskId)?.()
    watched.delete(taskId)
  }

  session.onCall = watch
  return {
    async start() {
      started = true
      for (const call of await session.calls()) watch(call)
    },
    stop() {
      started = false
      for (const taskId of [...watched.keys()]) unwatch(taskId)
    },
  }
}

/** The pause after a look that failed, such as at a store that can't be reached, in ms. */
const RETRY_MS = 1_000

/** Tells of one task until it has ended. Returns the way to stop. */
function teller(
  app: App,
  session: Session,
  followers: Followers,
  form: OlderForm,
  call: SessionCall,
  ended: () => void,
): () => void {
  const { taskId, progressToken } = call
  const key = { owner: session.identity.owner, taskId }
  const stopped = new AbortController()
  const progress =
    form.progressAfterAnswer && progressToken !== undefined
      ? taskProgress(app, progressToken, form.relatedTask)
      : undefined
  const pick = questionsToAsk()
  /** Since when a question is open and nobody was asked, by key. */
  const openSince = new Map<string, number>()
  // A handle says `working`, so that is no news.
  let status = 'working'
  let said = ''

  async function tell(): Promise<void> {
    const caller = { ...session.identity, elicitation: session.elicitation }
    const seen = await lookAt(app, key, caller)
    if (stopped.signal.aborted) return
    const over = isTerminal(seen.task.record.state)
    await tellStatus(seen)
    await tellProgress(seen, over)
    await session.questions.withdraw(
      taskId,
      seen.task.questions.map((question) => question.key),
    )
    if (!over) return ask(seen)
    await session.dropCalls(taskId)
    ended()
  }

  async function tellStatus(seen: Seen): Promise<void> {
    const notification = form.status?.(seen)
    const now = (notification?.params as { readonly status?: string } | undefined)?.status
    if (!notification || now === undefined || now === status) return
    status = now
    await session.wire.send({ jsonrpc: '2.0', ...notification } as never)
  }

  async function tellProgress({ task, canBeAsked }: Seen, over: boolean): Promise<void> {
    if (!progress || over) return
    const { progress: counts } = task.record.snapshot ?? {}
    const text = JSON.stringify([task.record.state, counts])
    if (text === said) return
    said = text
    await session.wire.send(progress(task, canBeAsked))
  }

  async function ask({ task, canBeAsked }: Seen): Promise<void> {
    if (!canBeAsked) return
    for (const question of pick(task.record, task.questions)) {
      const { key: questionKey } = question
      const now = app.clock.now()
      // Somebody is asked already, on a stream that may end without an answer: the grace begins anew.
      if (session.questions.isOut(taskId, questionKey)) openSince.set(questionKey, now)
      const since = openSince.get(questionKey) ?? now
      openSince.set(questionKey, since)
      const left = since + app.limits.askGraceMs - now
      if (left > 0) {
        void app.clock.sleep(left, stopped.signal).then(changed)
      } else {
        pick.asked(question)
        await session.questions.ask(form.elicitation(question, taskId), { taskId, key: questionKey }, {})
      }
    }
  }

  let retrying = false
  /** A task that has ended changes no more, so that nothing else would bring it back. */
  function retry(): void {
    if (retrying) return
    retrying = true
    void app.clock.sleep(RETRY_MS, stopped.signal).then(() => {
      retrying = false
      changed()
    })
  }

  let telling: Promise<void> | undefined
  let again = false
  /** One at a time; what changes meanwhile is told afterwards. */
  function changed(): void {
    if (stopped.signal.aborted) return
    if (telling) {
      again = true
      return
    }
    telling = tell()
      .catch(async (thrown: unknown) => {
        if (thrown instanceof RunbridgeError && thrown.code === 'task_not_found') {
          await session.dropCalls(taskId)
          return ended()
        }
        throw thrown
      })
      .catch((thrown: unknown) => {
        app.log.warn({ err: thrown, taskId }, 'a client could not be told of its task yet')
        retry()
      })
      .finally(() => {
        telling = undefined
        if (again) {
          again = false
          changed()
        }
      })
  }

  const unfollow = followers.follow(key, changed)
  return () => {
    stopped.abort()
    unfollow()
  }
}
