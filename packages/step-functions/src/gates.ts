import { cutText, type Gate, isFormSchema, type Json, type JsonSchema, oneLine } from '@runbridge/core'
import { parseJson } from './failure.js'
import type { Event } from './history.js'
import type { Line, RunMarks, TokenTask } from './marks.js'
import { fieldAt, showsToken } from './task-token.js'
import type { GateConfig, StepFunctionsWorkflow } from './workflow.js'

/** The most of a question that comes from a run, in bytes of UTF-8. */
const PROMPT_LIMIT_BYTES = 2000
/** Accepting is the answer; no value of a field can be taken for a yes or a no. */
const DEFAULT_SCHEMA: JsonSchema = { type: 'object', properties: {} }

/** Whether the question at this state comes from the task's parameters, which are only in a history with data. */
function needsParameters(gate: GateConfig | false | undefined): gate is GateConfig {
  return (
    gate !== undefined && gate !== false && (gate.promptField !== undefined || gate.schemaField !== undefined)
  )
}

/** The events whose parameters hold a question that has not been read yet. */
export function unreadQuestions({ lines }: RunMarks, { gates = {} }: StepFunctionsWorkflow): number[] {
  return lines.flatMap(({ visit }) => {
    const task = visit?.task
    if (!task || task.asked || !needsParameters(own(gates, visit.name))) return []
    return [task.event]
  })
}

/** The marks with the questions that these events hold; a question that was read is not read again. */
export function withQuestions(
  marks: RunMarks,
  events: ReadonlyMap<number, Event>,
  { gates = {} }: StepFunctionsWorkflow,
  warn: (message: string) => void,
): RunMarks {
  const lines = marks.lines.map((line): Line => {
    const task = line.visit?.task
    const event = task && !task.asked && events.get(task.event)
    const config = line.visit && own(gates, line.visit.name)
    if (!task || !event || !line.visit || !needsParameters(config)) return line
    const question = questionIn(parametersOf(event), config, line.visit.name, warn)
    return { ...line, visit: { ...line.visit, task: { ...task, ...question, asked: true } } }
  })
  return { ...marks, lines }
}

/** The questions that are open, oldest first. */
export function openGates({ lines }: RunMarks, { gates = {} }: StepFunctionsWorkflow): Gate[] {
  const asked: Gate[] = []
  for (const { visit } of lines) {
    const config = visit && (own(gates, visit.name) ?? {})
    if (visit?.task && config) asked.push(gateOf(visit.name, visit.task, config))
  }
  return asked.sort((a, b) => (eventOfGate(a.id) ?? 0) - (eventOfGate(b.id) ?? 0))
}

function own(
  gates: Readonly<Record<string, GateConfig | false>>,
  name: string,
): GateConfig | false | undefined {
  return Object.hasOwn(gates, name) ? gates[name] : undefined
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

/** What the task was given, where the history was read with its data. */
export function parametersOf(event: Event): Json | undefined {
  const text = event.taskScheduledEventDetails?.parameters ?? event.lambdaFunctionScheduledEventDetails?.input
  return text === undefined ? undefined : parseJson(text)
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
