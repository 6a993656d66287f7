import { isJsonObject, type Link } from '@runbridge/core'
import { parseExecutionArn } from './arn.js'
import { parseJson } from './failure.js'
import type { Event } from './history.js'
import { executionUrl } from './links.js'

/** The most nested executions that are linked to, the newest. */
export const MAX_NESTED = 10
/** https://docs.aws.amazon.com/step-functions/latest/dg/connect-stepfunctions.html */
const RESOURCE = /(^|:)startExecution(\.sync(:2)?|\.waitForTaskToken)?$/

/** Whether this event shows, in a history with data, the ARN of an execution that a task has started. */
export function startedNested(event: Event): boolean {
  // A task that waits for its execution says so when it is submitted; one that does not, when it succeeds.
  const submitted = event.taskSubmittedEventDetails?.resource
  if (submitted !== undefined) return RESOURCE.test(submitted)
  const succeeded = event.taskSucceededEventDetails?.resource
  return succeeded !== undefined && /(^|:)startExecution$/.test(succeeded)
}

/** The ARN; undefined for what is none: it comes from the run. */
export function nestedArn(event: Event): string | undefined {
  const text = event.taskSubmittedEventDetails?.output ?? event.taskSucceededEventDetails?.output
  const output = text === undefined ? undefined : parseJson(text)
  const arn = isJsonObject(output) ? output.ExecutionArn : undefined
  return typeof arn === 'string' && parseExecutionArn(arn) ? arn : undefined
}

export function nestedLinks(arns: readonly string[]): Link[] {
  return arns.flatMap((arn) => {
    const nested = parseExecutionArn(arn)
    const url = nested && executionUrl(nested, arn)
    return url === undefined
      ? []
      : [{ title: `Nested execution of ${nested?.stateMachine} in the AWS console`, url }]
  })
}
