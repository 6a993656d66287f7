import { createHmac, randomUUID } from 'node:crypto'
import { type Place, repositoryBody, userBody } from './bodies.js'
import type { Run } from './run.js'
import { jobBody, runBody } from './run-bodies.js'
import { viewOf } from './timeline.js'

export interface Delivery {
  readonly headers: Record<string, string>
  readonly body: string
}

/** What GitHub would post to a webhook for the present state of a run, signed with the webhook's secret. */
export function deliveryOf(
  place: Place,
  run: Run,
  event: 'workflow_run' | 'workflow_job' | 'deployment_review',
  secret: string,
  now: number,
): Delivery {
  const view = viewOf(run, now)
  const common = {
    repository: repositoryBody(place, run.repository),
    sender: userBody(place, run.login),
  }
  const job = view.jobs[0]
  const payloads = {
    workflow_run: {
      action: view.status === 'completed' ? 'completed' : 'in_progress',
      workflow_run: runBody(place, view),
    },
    workflow_job: { action: 'in_progress', workflow_job: job && jobBody(place, view, job, now) },
    deployment_review: { action: 'requested', workflow_run: runBody(place, view) },
  }
  const body = JSON.stringify({ ...payloads[event], ...common })
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/emulator',
      'x-github-event': event,
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
  }
}
