import type { Snapshot } from '@runbridge/core'
import type { ApiJob } from './api.js'
import type { JobPage, PendingEnvironment } from './marks.js'

/** A page of jobs in as few words as progress needs. */
export function summarise(jobs: readonly ApiJob[], total: number, etag: string | undefined): JobPage {
  const running = jobs.filter(({ status }) => status === 'in_progress')
  const held = jobs.find(({ status }) => status !== 'in_progress' && status !== 'completed')
  const [first] = running
  return {
    ...(etag !== undefined && { etag }),
    total,
    jobs: jobs.length,
    done: jobs.filter(({ status }) => status === 'completed').length,
    running: running.length,
    ...(first && { current: inWords(first) }),
    ...(held && { held: `${held.name}: ${HELD[held.status] ?? held.status}` }),
    waiting: jobs.some(({ status }) => status === 'waiting'),
  }
}

const HELD: Readonly<Record<string, string>> = {
  queued: 'waits for a runner',
  requested: 'was requested',
  pending: 'waits for its concurrency group',
  waiting: 'waits for an environment',
}

/** `job build: step 3 of 7, Run tests`. */
function inWords({ name, steps }: ApiJob): string {
  const all = steps ?? []
  const at = all.findIndex(({ status }) => status === 'in_progress')
  const done = all.filter(({ status }) => status === 'completed').length
  const number = at >= 0 ? at + 1 : Math.min(done + 1, all.length)
  const step = all[number - 1]
  return step ? `job ${name}: step ${number} of ${all.length}, ${step.name}` : `job ${name}`
}

/** Jobs that are done of those that are known so far, matrix jobs counted; and where the first one is. */
export function progressOf(
  pages: readonly JobPage[],
  pending: readonly PendingEnvironment[],
): NonNullable<Snapshot['progress']> | undefined {
  const [first] = pages
  if (!first || first.total === 0) return undefined
  const sum = (figure: 'done' | 'running') => pages.reduce((total, page) => total + page[figure], 0)
  const current = pages.find((page) => page.current !== undefined)?.current
  const others = sum('running') - 1
  const held = pages.find((page) => page.held !== undefined)?.held
  const parts = [
    current !== undefined && (others > 0 ? `${current}; ${others} more run` : current),
    ...pending.map(waitWords),
    current === undefined && pending.length === 0 && held,
  ]
  return {
    message: parts.filter((part) => typeof part === 'string').join('; '),
    done: sum('done'),
    total: first.total,
  }
}

function waitWords({ name, reviewers, opensAt }: PendingEnvironment): string {
  if (opensAt !== undefined) return `environment ${name} waits until ${new Date(opensAt).toISOString()}`
  const who = reviewers.length === 0 ? '' : ` by ${reviewers.join(', ')}`
  return `environment ${name} waits for approval${who}`
}
