import { StateMachine, type StateMachineDefinition } from 'aws-local-stepfunctions'
import type { AslDefinition, Json } from './asl.js'
import { definePromiseWithResolvers } from './promise-with-resolvers.js'

/** The interpreter calls it when a Task runs, not when it is imported. */
definePromiseWithResolvers()

/** What the interpreter's event log says of one level of states. */
export interface InterpreterEvent {
  type: string
  state?: { name: string; input: Json; output?: Json }
}

/** A function in place of the state of that name. It gets the state's input after InputPath and Parameters. */
export type StateFunction = (input: Json) => Promise<Json>

export interface Interpretation {
  result: Promise<Json>
  events: AsyncIterable<InterpreterEvent>
  abort: () => void
}

/** Starts one level of states; Task states run the function of their name. */
export function interpret(
  definition: AslDefinition,
  input: Json,
  context: Record<string, unknown>,
  functions: Record<string, StateFunction>,
): Interpretation {
  const machine = new StateMachine(definition as unknown as StateMachineDefinition, {
    validationOptions: { noValidate: true },
  })
  const run = machine.run(input, { context, overrides: { taskResourceLocalHandlers: functions } })
  return { result: run.result, events: run.eventLogs as AsyncIterable<InterpreterEvent>, abort: run.abort }
}

/** The complaints of the Amazon States Language schema, or undefined where the definition is valid. */
export function schemaComplaint(definition: AslDefinition): string | undefined {
  try {
    new StateMachine(definition as unknown as StateMachineDefinition)
    return undefined
  } catch (error) {
    return String((error as Error).message).replace(/^.*see error\(s\) below:\s*/s, '')
  }
}

let timeoutSample: Promise<Error> | undefined

/**
 * An error that the interpreter takes for a timeout, so that `States.TaskFailed` in a Retry or Catch passes it over.
 * It knows timeouts by a class that it does not export; one task that times out on purpose hands us an instance.
 */
export async function timeoutError(name: string): Promise<Error> {
  timeoutSample ??= sampleTimeout()
  const sample = await timeoutSample
  const error = Object.create(Object.getPrototypeOf(sample)) as Error & Record<string, unknown>
  return Object.assign(error, { name, message: '', retryable: true, catchable: true })
}

async function sampleTimeout(): Promise<Error> {
  const never = { Type: 'Task' as const, Resource: 'never', TimeoutSeconds: 0.001, End: true }
  const run = interpret(
    { StartAt: 'never', States: { never } },
    {},
    {},
    { never: () => new Promise(() => {}) },
  )
  return run.result.then(
    () => Promise.reject(new Error('The interpreter no longer times out a task that does not answer.')),
    (error: Error) => error.cause as Error,
  )
}
