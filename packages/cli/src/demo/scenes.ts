import type { ApplicationElicitResult } from '@modelcontextprotocol/ext-tasks/client'
import type { JsonObject } from '@runbridge/core'
import type { RunEnd } from '../client/run-tool.js'

/** One tool call of the demo, and what must come of it. */
export interface Scene {
  readonly title: string
  readonly tool: string
  readonly args: JsonObject
  /** What a person says when asked; without it nobody may ask. */
  readonly answer?: ApplicationElicitResult
  readonly expected: {
    readonly isError: boolean
    /** Is part of the first text of the result. */
    readonly text: string
  }
}

export const SCENES: readonly Scene[] = [
  {
    title: 'An order: stock and payment in parallel, the busy inventory tried again',
    tool: 'place_order',
    args: { orderId: '1001' },
    expected: { isError: false, text: '"stockAttempts":3' },
  },
  {
    title: 'A deploy that waits for a person (a task token in the state machine)',
    tool: 'deploy',
    args: { version: '1.2.3' },
    answer: { action: 'accept', content: { comment: 'Friday is fine' } },
    expected: { isError: false, text: '"approvalComment":"Friday is fine"' },
  },
  {
    title: 'A batch that fails on purpose: its last file is missing',
    tool: 'import_month',
    args: { month: '2026-06' },
    expected: { isError: true, text: 'ImportFile' },
  },
  {
    title: 'A Google Cloud workflow: pages in a loop, then an editor is asked by a callback',
    tool: 'translate_manual',
    args: { language: 'fr' },
    answer: { action: 'accept', content: { editor: 'Ada' } },
    expected: { isError: false, text: '"review":{"approved":true,"editor":"Ada"}' },
  },
  {
    title: 'A GitHub Actions run whose tests fail on purpose, and what it printed',
    tool: 'run_ci',
    args: { suite: 'unit' },
    expected: { isError: true, text: 'test / Run tests' },
  },
  {
    title: 'A GitHub release whose deployment waits for a reviewer of its environment',
    tool: 'release',
    args: { version: '1.2.3' },
    answer: { action: 'accept', content: { decision: 'approve', comment: 'Ship it' } },
    expected: { isError: false, text: '{"released":"1.2.3","comment":"Ship it"}' },
  },
]

/** What of a scene did not go as it should; undefined when all did. */
export function sceneProblem(
  { tool, answer, expected }: Scene,
  end: RunEnd,
  asked: number,
): string | undefined {
  const questions = answer ? 1 : 0
  const text = end.texts[0] ?? ''
  if (end.taskId === undefined) return `${tool} did not become a task.`
  if (end.status !== 'completed') return `${tool} ended ${end.status}: ${text}`
  if (asked !== questions) return `${tool} asked ${asked} times instead of ${questions}.`
  if (end.isError !== expected.isError) {
    return `${tool} ${end.isError ? 'failed' : 'did not fail'}: ${text}`
  }
  return text.includes(expected.text) ? undefined : `${tool} ended without ${expected.text}: ${text}`
}
