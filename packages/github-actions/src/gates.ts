import type { Gate, JsonSchema } from '@runbridge/core'
import type { PendingEnvironment } from './marks.js'

/** The answer to a waiting environment. Declining the question rejects too. */
const REVIEW_SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    decision: { type: 'string', title: 'Decision', enum: ['approve', 'reject'] },
    comment: { type: 'string', title: 'Comment', description: 'Shown with the review on GitHub' },
  },
  required: ['decision'],
}

/** Accepting approves; GitHub knows no rejection of a run from a fork. */
const FORK_SCHEMA: JsonSchema = { type: 'object', properties: {} }

export const FORK_GATE = 'fork'

/** An environment can gate several jobs in turn, so the number of its earlier reviews is part of the gate's id. */
export function environmentGate({ id, name }: PendingEnvironment, reviews: number, where: string): Gate {
  return {
    id: `environment-${id}-${reviews}`,
    step: name,
    prompt: `Approve the deployment to ${name} in ${where}?`,
    schema: REVIEW_SCHEMA,
  }
}

export function forkGate(where: string): Gate {
  return {
    id: FORK_GATE,
    step: 'approval to run',
    prompt: `Let ${where} run? It comes from a fork and has not run yet.`,
    schema: FORK_SCHEMA,
  }
}

/** The environment's id and the count of its reviews when it was asked, or undefined for an id that is not ours. */
export function parseGateId(
  id: string,
): { readonly environment: number; readonly reviews: number } | undefined {
  const [, environment, reviews] = /^environment-(\d{1,15})-(\d{1,6})$/.exec(id) ?? []
  if (environment === undefined || reviews === undefined) return undefined
  return { environment: Number(environment), reviews: Number(reviews) }
}
