import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, type Json, type JsonObject } from '@runbridge/core'
import { describe, expect, it } from 'vitest'
import { stepFunctions } from './backend.js'
import { followHistory, waitsForToken } from './follow-history.js'
import { openGates } from './gates.js'
import { type Event, enteredName } from './history.js'
import { NO_MARKS } from './marks.js'
import { progressOf } from './progress.js'
import {
  context,
  EXECUTION,
  historyPages,
  look,
  MACHINE,
  scriptedClients,
} from './testing/scripted-clients.js'

/**
 * Answers of real AWS, in the form of LocalStack's snapshot tests: identifiers and times are placeholders, and
 * JSON in strings is often shown parsed. They are not part of this project.
 */
const folder = process.env.RUNBRIDGE_RECORDINGS
if (!folder) console.warn('Recordings of AWS: skipped, since RUNBRIDGE_RECORDINGS names no folder of them.')

interface Recorded {
  readonly name: string
  readonly events: Event[]
}

const DATA = ['input', 'output', 'parameters', 'cause']

/** Undoes the placeholders: JSON is text again, and an event a second after the one before. */
function asAnswered(value: Json, id: number): Json {
  if (!isJsonObject(value)) return value
  const fields = Object.entries(value).map(([key, member]) => {
    if (DATA.includes(key) && typeof member !== 'string') return [key, JSON.stringify(member)]
    return [key, asAnswered(member ?? null, id)]
  })
  return Object.fromEntries(fields) as JsonObject
}

function histories(): Recorded[] {
  const found: Recorded[] = []
  const visit = (value: Json | undefined, name: string): void => {
    if (!isJsonObject(value)) return
    if (Array.isArray(value.events)) {
      const events = (value.events as JsonObject[])
        .map((event) => ({ ...(asAnswered(event, Number(event.id)) as JsonObject) }) as unknown as Event)
        .map((event) => ({ ...event, timestamp: new Date(event.id * 1000) }))
        .sort((a, b) => a.id - b.id)
      if (events.length > 0) found.push({ name, events })
    }
    for (const [key, member] of Object.entries(value)) visit(member, `${name}/${key}`)
  }
  for (const file of readdirSync(folder ?? '.').filter((name) => name.endsWith('.json'))) {
    visit(JSON.parse(readFileSync(join(folder ?? '.', file), 'utf8')) as Json, file)
  }
  return found
}

const workflow = { id: MACHINE }

describe.skipIf(!folder)('recordings of AWS', () => {
  const recorded = folder ? histories() : []
  const waits = recorded.filter(({ events }) => events.some(waitsForToken))

  it('there are some, with gates among them', () => {
    expect(recorded.length).toBeGreaterThan(50)
    expect(waits.length).toBeGreaterThan(10)
  })

  it('show each gate from its scheduling to the event that its task ended with, at its state', () => {
    for (const { name, events } of waits) {
      let marks = NO_MARKS
      for (let length = 1; length <= events.length; length += 1) {
        const present = events.slice(0, length)
        marks = followHistory(marks, present)
        const gates = openGates(marks, workflow)
        // All recorded gates are one after the other, so the last one scheduled is the one that can be open.
        const scheduled = present.findLastIndex(waitsForToken)
        const since = present.slice(scheduled + 1).map((event) => event.type)
        const open =
          scheduled >= 0 && since.every((type) => type === 'TaskStarted' || type === 'TaskSubmitted')
        expect(gates.length, `${name} at ${length}`).toBe(open ? 1 : 0)
        if (!open) continue
        expect(gates[0]?.id).toBe(`event-${present[scheduled]?.id}`)
        expect(gates[0]?.step).toBe(enteredName(present[scheduled - 1] as Event))
      }
    }
  })

  it('name a state that was entered as progress, at every moment', () => {
    for (const { name, events } of recorded) {
      const names = events.map(enteredName).filter((entered) => entered !== undefined)
      for (let length = 1; length <= events.length; length += 1) {
        const present = events.slice(0, length)
        const progress = progressOf(followHistory(NO_MARKS, present))
        const last = present.at(-1) as Event
        const entered = enteredName(last)
        if (entered !== undefined) expect(progress?.message, `${name} at ${length}`).toContain(entered)
        if (progress) expect(names.some((one) => progress.message.includes(one))).toBe(true)
      }
    }
  })

  it('name the failing state of every failure, with the error of the event', async () => {
    let failures = 0
    for (const { name, events } of recorded) {
      const end = events.findLast((event) => event.type === 'ExecutionFailed')
      if (!end) continue
      failures += 1
      const { error, cause } = end.executionFailedEventDetails ?? {}
      const clients = scriptedClients({
        DescribeExecution: { status: 'FAILED', executionArn: EXECUTION, error, cause },
        GetExecutionHistory: historyPages(() => events),
      })
      const run = { id: EXECUTION, attempt: 0 }
      const result = await stepFunctions({ clients }).get(workflow, run, { ...look, progress: true })
      if (result.kind !== 'snapshot') throw new Error(name)
      expect(result.snapshot.state).toBe('failed')
      expect(result.snapshot.error?.code).toBe(error ?? 'FAILED')
      const entered = events.filter((event) => event.id < end.id).map(enteredName)
      expect(entered, name).toContain(result.snapshot.error?.step)
    }
    expect(failures).toBeGreaterThan(20)
  })

  it('tell our own answer from another by what AWS recorded of it', async () => {
    let judged = 0
    for (const { name, events } of waits) {
      const scheduled = events.find(waitsForToken)
      const closing = events.find(
        (event) => event.type === 'TaskSucceeded' && event.id > (scheduled?.id ?? 0),
      )
      const output = closing?.taskSucceededEventDetails?.output
      const content = output === undefined ? undefined : (JSON.parse(output) as Json)
      if (!isJsonObject(content)) continue
      judged += 1
      const clients = scriptedClients({ GetExecutionHistory: historyPages(() => events) })
      const gate = { id: `event-${scheduled?.id}`, step: '', prompt: '', schema: {} }
      const answer = (given: JsonObject) =>
        stepFunctions({ clients }).answer(
          workflow,
          { id: EXECUTION, attempt: 0 },
          gate,
          { action: 'accept', content: given },
          context,
        )
      expect(await answer(content), name).toEqual({ kind: 'delivered' })
      expect(await answer({ ...content, other: 1 }), name).toEqual({ kind: 'too_late' })
    }
    expect(judged).toBeGreaterThan(2)
  })
})
