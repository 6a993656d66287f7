import type { JobView } from './timeline.js'

/** The log of a job as GitHub keeps it: a byte order mark, a timestamp a line, its own markers and colours. */
export function jobLog(job: JobView): string {
  const lines = job.steps.flatMap((step) => {
    if (step.conclusion === 'skipped') return []
    const head = [
      `##[group]Run ${step.script.name}`,
      `\u001b[36;1m${step.script.name}\u001b[0m`,
      '##[endgroup]',
    ]
    const tail = step.conclusion === 'failure' ? ['##[error]Process completed with exit code 1.'] : []
    const at = (ms: number) => `${new Date(ms).toISOString().slice(0, 23)}0000Z`
    const inside = Math.max(step.startedAt, Math.min(step.endedAt, step.startedAt + 1) - 1)
    return [...head, ...(step.script.log ?? []), ...tail].map((line) => `${at(inside)} ${line}`)
  })
  return `\ufeff${lines.join('\n')}\n`
}
