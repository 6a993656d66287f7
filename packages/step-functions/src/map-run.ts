import { DescribeMapRunCommand } from '@aws-sdk/client-sfn'
import type { StepFunctionsClient } from './clients.js'
import type { RunMarks, Visit } from './marks.js'

/**
 * The marks with the counts of a Map Run, which the history of the execution does not have; undefined when the Map
 * Run is over, so that the history has more to tell. Throws what the client throws.
 */
export async function withMapRun(
  marks: RunMarks,
  mapRunArn: string,
  client: StepFunctionsClient,
  signal: AbortSignal,
): Promise<RunMarks | undefined> {
  const command = new DescribeMapRunCommand({ mapRunArn })
  const { status, itemCounts } = await client.send(command, { abortSignal: signal })
  if (status !== 'RUNNING' || !itemCounts) return undefined
  const { succeeded = 0, failed = 0, timedOut = 0, aborted = 0, total = 0 } = itemCounts
  const counted = (visit: Visit): Visit =>
    visit.mapRunArn === mapRunArn
      ? { ...visit, done: succeeded, failed: failed + timedOut + aborted, total }
      : visit
  const lines = marks.lines.map((line) => (line.visit ? { ...line, visit: counted(line.visit) } : line))
  return { ...marks, lines }
}
