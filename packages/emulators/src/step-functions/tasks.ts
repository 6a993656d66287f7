import type { AslState, Json } from './asl.js'
import { serviceResource } from './service-resource.js'

/** What a local function knows about the task that it stands in for. */
export interface TaskCall {
  executionArn: string
  executionName: string
  stateName: string
  /** The state's Resource as the definition gives it. */
  resource: string
  /** Only for Resources that end in `.waitForTaskToken`. */
  taskToken: string | undefined
  /** Aborted when the state times out or the execution is over. */
  signal: AbortSignal
}

/**
 * Stands in for the service or function that a Task state calls. Gets the call's parameters (a Lambda function its
 * payload) and returns the result. What it throws fails the state: the error's `name` is the error, its `message` the cause.
 * With `.waitForTaskToken` its result is only the answer of the service; the task goes on waiting for the token.
 */
export type TaskFunction = (input: Json, call: TaskCall) => unknown

/** By state name, Resource ARN (with or without its suffix), or Lambda function name or ARN. */
export type TaskFunctions = Record<string, TaskFunction>

/** The function for a Task; the state's name goes before its function, and that before its Resource. */
export function findTask(
  tasks: TaskFunctions,
  stateName: string,
  state: AslState,
  functionName: unknown = fixedFunctionName(state),
): TaskFunction | undefined {
  const arn = state.Resource ?? ''
  const names = [stateName]
  for (const name of [functionName, serviceResource(arn).kind === 'lambda' ? arn : undefined]) {
    if (typeof name === 'string') names.push(name, ...functionNames(name))
  }
  names.push(arn, arn.replace(/\.(waitForTaskToken|sync(:2)?)$/, ''))
  return names
    .map((name) => (Object.hasOwn(tasks, name) ? tasks[name] : undefined))
    .find((task) => task !== undefined)
}

function fixedFunctionName(state: AslState): unknown {
  const parameters = state.Parameters
  return typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters)
    ? parameters.FunctionName
    : undefined
}

/** `arn:aws:lambda:us-east-1:111122223333:function:greet:live` is also `…:function:greet` and `greet`. */
function functionNames(arn: string): string[] {
  const [, base, name] = /^(arn:[^:]+:lambda:[^:]+:[^:]+:function:([^:]+))/.exec(arn) ?? []
  return base && name ? [base, name] : [arn.split(':')[0] ?? arn]
}
