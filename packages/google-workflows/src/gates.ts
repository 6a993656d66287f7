import { cutText, type Gate, type Json, type JsonSchema, type Marks, oneLine } from '@runbridge/core'
import * as z from 'zod'
import { type Callback, callbackHash, callbackId, isWaited } from './callbacks.js'
import type { Execution } from './executions-api.js'
import { stepName } from './failure.js'
import { inProgress, type StepEntry } from './step-entries.js'
import type { GateConfig, GoogleWorkflow } from './workflow.js'

/** The most of a question that comes from a run, in bytes of UTF-8. */
const PROMPT_LIMIT_BYTES = 2000
/** Accepting is the answer; no value of a field can be taken for a yes or a no. */
const DEFAULT_SCHEMA: JsonSchema = { type: 'object', properties: {} }

const marks = z.object({
  /** By callback: how often it was seen to be waited for, and whether it was at the last look. */
  waits: z.record(z.string(), z.object({ count: z.int(), open: z.boolean() })),
})
export type WaitMarks = z.infer<typeof marks>

/** What an earlier read noted, or nothing for notes that are not ours. */
export function parseMarks(given: Marks | undefined): WaitMarks {
  const parsed = marks.safeParse(given)
  return parsed.success ? parsed.data : { waits: {} }
}

/** A callback that is waited for again, after a look at which it was not, is waited for once more. */
export function countWaits(before: WaitMarks, callbacks: readonly Callback[]): WaitMarks {
  const waited = new Set(callbacks.filter(isWaited).map(callbackHash))
  const waits: WaitMarks['waits'] = {}
  for (const hash of new Set([...Object.keys(before.waits), ...waited])) {
    const known = before.waits[hash] ?? { count: 0, open: false }
    const open = waited.has(hash)
    waits[hash] = { count: known.count + (open && !known.open ? 1 : 0), open }
  }
  return { waits }
}

/** A step that waits for a person: the callback, and the visit of the step where the history shows it. */
export interface Wait {
  /** As the configuration names it. */
  readonly step: string
  readonly config: GateConfig
  readonly callback: Callback
  readonly entry?: StepEntry
}

export interface Seen {
  readonly workflow: GoogleWorkflow
  readonly execution: Execution
  readonly callbacks: readonly Callback[]
  /** Newest first; empty where there is no history. */
  readonly entries: readonly StepEntry[]
}

/**
 * Which callback each configured step waits for, of the steps where the execution is. A variable names it; without one
 * it is the only callback that is left for the only step. Never a guess: a wrong callback would answer another question.
 */
export function waitsOf(seen: Seen, warn: (message: string) => void): Wait[] {
  const { workflow, entries } = seen
  const waits: Wait[] = []
  const left = new Map(seen.callbacks.filter(isWaited).map((each) => [callbackId(each), each]))
  const unnamed: { step: string; config: GateConfig; entry?: StepEntry }[] = []
  for (const [step, config] of Object.entries(workflow.gates ?? {})) {
    if (!isCurrent(step, seen)) continue
    const entry = entries.find((each) => inProgress(each) && names(step, each))
    // A history that does not show the visit yet will: its question must not change its id then.
    if (!entry && entries.length > 0) continue
    const asked = { step, config, ...(entry && { entry }) }
    if (config.urlVariable === undefined) {
      unnamed.push(asked)
      continue
    }
    const id = newestUrl(entries, config.urlVariable, left)?.split('/').at(-1) ?? ''
    const callback = left.get(id)
    left.delete(id)
    if (callback) waits.push({ ...asked, callback })
  }
  const [only] = unnamed
  const [callback] = left.values()
  if (only && callback && unnamed.length === 1 && left.size === 1) waits.push({ ...only, callback })
  else if (only && left.size > 0) {
    const steps = unnamed.map(({ step }) => step).join(', ')
    warn(
      `${workflow.id} waits for ${left.size} callbacks at ${steps}; which is which can not be told, so nothing is asked. Name the variables of their URLs (\`urlVariable\`).`,
    )
  }
  return waits
}

/** `step` or `routine.step`. */
function names(step: string, at: { routine?: string | null; step?: string | null }): boolean {
  return step === at.step || step === stepName(at)
}

function isCurrent(step: string, { execution, entries }: Seen): boolean {
  const current = execution.status?.currentSteps ?? []
  return (
    current.some((each) => names(step, each)) || entries.some((each) => inProgress(each) && names(step, each))
  )
}

/** The newest value of a variable that is the URL of one of the callbacks. */
export function newestUrl(
  entries: readonly StepEntry[],
  path: string,
  callbacks: ReadonlyMap<string, unknown>,
): string | undefined {
  for (const entry of entries) {
    const value = variableAt(entry, path)
    if (typeof value === 'string' && callbacks.has(value.split('/').at(-1) ?? '')) return value
  }
  return undefined
}

/** The value at a path such as `callback_details.url`. */
export function variableAt(entry: StepEntry, path: string): Json | undefined {
  return path.split('.').reduce<Json | undefined>(
    (value, key) => {
      const known = typeof value === 'object' && value !== null && Object.hasOwn(value, key)
      return known ? (value as Record<string, Json>)[key] : undefined
    },
    entry.variableData?.variables as Json | undefined,
  )
}

/** The id is the visit of the step where the history shows it; else the callback with the number of its waits. */
export function gateOf(wait: Wait, { waits }: WaitMarks, entries: readonly StepEntry[]): Gate {
  const { step, config, callback, entry } = wait
  const hash = callbackHash(callback)
  return {
    id: entry ? `entry-${entry.entryId}` : `wait-${hash}-${waits[hash]?.count ?? 1}`,
    step,
    prompt:
      config.prompt ??
      promptIn(entries, config, callback) ??
      `The workflow waits for an answer at ${JSON.stringify(step)}.`,
    schema: config.schema ?? DEFAULT_SCHEMA,
  }
}

/** Nothing that could show a callback's URL is shown. */
function promptIn(
  entries: readonly StepEntry[],
  { promptVariable }: GateConfig,
  callback: Callback,
): string | undefined {
  if (promptVariable === undefined) return undefined
  const values = entries.map((entry) => variableAt(entry, promptVariable))
  const text = values.find((value) => typeof value === 'string' && value !== '') as string | undefined
  if (text === undefined || text.includes(callbackId(callback)) || text.includes('/callbacks/'))
    return undefined
  return cutText(oneLine(text, PROMPT_LIMIT_BYTES), PROMPT_LIMIT_BYTES)
}

/** What a gate's id names, or undefined for an id that is not ours. */
export function parseGateId(id: string): { entry: number } | { hash: string } | undefined {
  const [, entry] = /^entry-(\d{1,9})$/.exec(id) ?? []
  if (entry !== undefined) return { entry: Number(entry) }
  const [, hash] = /^wait-([0-9a-f]{16})-\d{1,6}$/.exec(id) ?? []
  return hash === undefined ? undefined : { hash }
}
