import { cutText, type Gate, type Json, type JsonSchema, type Marks, oneLine } from '@runbridge/core'
import * as z from 'zod'
import { parseJson } from './failure.js'
import { isFormSchema } from './form-schema.js'
import { byId, type Event, enteredName, isEnd, stateBefore } from './history.js'
import { fieldAt, showsToken } from './task-token.js'
import type { GateConfig, StepFunctionsWorkflow } from './workflow.js'

/** The most of a question that comes from a run, in bytes of UTF-8. */
const PROMPT_LIMIT_BYTES = 2000
/** AWS's default timeout of a task, in seconds, which means none. */
const NO_TIMEOUT_SECONDS = 99_999_999
/** Accepting is the answer; no value of a field can be taken for a yes or a no. */
const DEFAULT_SCHEMA: JsonSchema = { type: 'object', properties: {} }

const tokenTask = z.object({
  /** The id of the event that scheduled it. */
  event: z.int(),
  deadline: z.number().optional(),
  /** Only what came from the parameters; they are read once. */
  prompt: z.string().optional(),
  schema: z.record(z.string(), z.json()).optional(),
})
const thread = z.object({
  /** The last event of this visit of a Task state; the next one names it as its previous. */
  tail: z.int(),
  step: z.string(),
  open: tokenTask.optional(),
})
const marks = z.object({ lastEvent: z.int(), tasks: z.array(thread) })

/** How far the history was read, and the Task states that are entered there. Holds no token. */
export type TaskMarks = z.infer<typeof marks>
type Thread = z.infer<typeof thread>
type TokenTask = z.infer<typeof tokenTask>

/** What an earlier read noted, or undefined for notes that are not ours. */
export function parseMarks(given: Marks | undefined): TaskMarks | undefined {
  const parsed = marks.safeParse(given)
  return parsed.success ? parsed.data : undefined
}

/** Whether questions come from parameters, so that the history has to be read with its data. */
export function needsParameters({ gates = {} }: StepFunctionsWorkflow): boolean {
  return Object.values(gates).some(
    (gate) => gate !== false && (gate.promptField !== undefined || gate.schemaField !== undefined),
  )
}

/**
 * Follows every visit of a Task state through the events (oldest first), each led to by the one before. Events that
 * were followed before change nothing.
 */
export function followTasks(
  before: TaskMarks | undefined,
  events: readonly Event[],
  workflow: StepFunctionsWorkflow,
  warn: (message: string) => void,
): TaskMarks {
  const tasks = new Map<number, Thread>((before?.tasks ?? []).map((task) => [task.tail, task]))
  const index = byId(events)
  let lastEvent = before?.lastEvent ?? 0
  const move = (task: Thread, tail: number, open: TokenTask | undefined) => {
    tasks.delete(task.tail)
    tasks.set(tail, { tail, step: task.step, ...(open && { open }) })
  }
  for (const event of events) {
    if (event.id <= lastEvent) continue
    lastEvent = event.id
    const task = tasks.get(event.previousEventId ?? 0)
    if (event.type === 'TaskStateEntered') {
      tasks.set(event.id, { tail: event.id, step: enteredName(event) ?? '' })
    } else if (isEnd(event)) {
      for (const ended of [...tasks.values()]) move(ended, ended.tail, undefined)
    } else if (/State(Exited|Aborted|Failed)$/.test(event.type)) {
      if (task) tasks.delete(task.tail)
    } else if (waitsForToken(event)) {
      const step = task?.step ?? stateBefore(index, event.id)?.stateEnteredEventDetails?.name
      const scheduled = task ?? { tail: event.id, step: step ?? resourceOf(event) ?? '' }
      move(scheduled, event.id, tokenTaskOf(event, scheduled.step, workflow, warn))
    } else if (task) {
      move(task, event.id, goesOn(event) ? task.open : undefined)
    }
  }
  return { lastEvent, tasks: [...tasks.values()] }
}

/** The questions that are open, oldest first. */
export function openGates({ tasks }: TaskMarks, { gates = {} }: StepFunctionsWorkflow): Gate[] {
  const asked: Gate[] = []
  for (const { step, open } of tasks) {
    const config = Object.hasOwn(gates, step) ? gates[step] : {}
    if (open && config !== false) asked.push(gateOf(step, open, config ?? {}))
  }
  return asked.sort((a, b) => (eventOfGate(a.id) ?? 0) - (eventOfGate(b.id) ?? 0))
}

function gateOf(step: string, open: TokenTask, config: GateConfig): Gate {
  return {
    id: `event-${open.event}`,
    step,
    prompt: config.prompt ?? open.prompt ?? `The workflow waits for an answer at ${JSON.stringify(step)}.`,
    schema: config.schema ?? (open.schema as JsonSchema | undefined) ?? DEFAULT_SCHEMA,
    ...(open.deadline !== undefined && { deadline: open.deadline }),
  }
}

/** The history event behind a gate's id, or undefined for an id that is not ours. */
export function eventOfGate(id: string): number | undefined {
  const found = /^event-(\d{1,9})$/.exec(id)
  return found ? Number(found[1]) : undefined
}

function resourceOf(event: Event): string | undefined {
  return event.taskScheduledEventDetails?.resource ?? event.lambdaFunctionScheduledEventDetails?.resource
}

export function waitsForToken(event: Event): boolean {
  return resourceOf(event)?.endsWith('.waitForTaskToken') === true
}

/** Whether a task that waits for its token still does after this event. */
export function goesOn({ type }: Event): boolean {
  return type === 'TaskStarted' || type === 'TaskSubmitted' || type === 'LambdaFunctionStarted'
}

/** What the task was given, where the history was read with its data. */
export function parametersOf(event: Event): Json | undefined {
  const text = event.taskScheduledEventDetails?.parameters ?? event.lambdaFunctionScheduledEventDetails?.input
  return text === undefined ? undefined : parseJson(text)
}

function tokenTaskOf(
  event: Event,
  step: string,
  { gates = {} }: StepFunctionsWorkflow,
  warn: (message: string) => void,
): TokenTask {
  const config = Object.hasOwn(gates, step) ? gates[step] : undefined
  const seconds =
    event.taskScheduledEventDetails?.timeoutInSeconds ??
    event.lambdaFunctionScheduledEventDetails?.timeoutInSeconds
  const timed = typeof seconds === 'number' && seconds < NO_TIMEOUT_SECONDS && event.timestamp
  return {
    event: event.id,
    ...(timed && { deadline: timed.getTime() + Number(seconds) * 1000 }),
    ...(config && questionIn(parametersOf(event), config, step, warn)),
  }
}

/** Question and schema from the parameters; what would show a token or can't be asked is left out. */
function questionIn(
  parameters: Json | undefined,
  { promptField, schemaField }: GateConfig,
  step: string,
  warn: (message: string) => void,
): Pick<TokenTask, 'prompt' | 'schema'> {
  const question: Pick<TokenTask, 'prompt' | 'schema'> = {}
  if (promptField !== undefined) {
    const field = fieldAt(parameters, promptField)
    const text = typeof field === 'string' ? field : ''
    if (text !== '' && !showsToken(text, parameters)) {
      question.prompt = cutText(oneLine(text, PROMPT_LIMIT_BYTES), PROMPT_LIMIT_BYTES)
    } else {
      warn(
        `The field ${promptField} at state ${step} holds no text that can be shown; a plain question is asked.`,
      )
    }
  }
  if (schemaField !== undefined) {
    const field = fieldAt(parameters, schemaField)
    const schema = typeof field === 'string' ? parseJson(field) : field
    if (isFormSchema(schema) && !showsToken(JSON.stringify(schema), parameters)) {
      question.schema = schema as NonNullable<TokenTask['schema']>
    } else {
      warn(`The field ${schemaField} at state ${step} holds no flat JSON Schema; accepting is the answer.`)
    }
  }
  return question
}
