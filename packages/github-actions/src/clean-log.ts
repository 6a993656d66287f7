/** https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands, as a log keeps them. */
const MARKERS: Readonly<Record<string, string>> = {
  error: 'Error: ',
  warning: 'Warning: ',
  notice: 'Notice: ',
  debug: 'Debug: ',
  command: '',
  section: '',
  group: '',
}

const TIMESTAMP = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z) ?/
const ANSI =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what it removes
  /\u009b[0-?]*[ -/]*[@-~]|\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: all but the tab
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/** One line of a job's log: when it was printed, and what, without GitHub's own signs. */
export interface LogLine {
  /** ms since the epoch. */
  readonly at?: number
  readonly text: string
  /** GitHub ends a failed step with such a line. */
  readonly error: boolean
}

/** Lines of a raw log without timestamps, colours and markers. Masked secrets stay masked. */
export function cleanLines(raw: string): LogLine[] {
  const lines: LogLine[] = []
  for (const line of raw.replace(/^\ufeff/, '').split(/\r?\n/)) {
    const stamp = TIMESTAMP.exec(line)
    const bare = line.slice(stamp?.[0].length ?? 0).replace(ANSI, '')
    if (/^(?:##\[endgroup\]|::endgroup::)/.test(bare)) continue
    const [marker = '', word = ''] = /^##\[([a-z-]+)\]/.exec(bare) ?? []
    const text = `${MARKERS[word] ?? ''}${bare.slice(marker.length)}`.replace(CONTROL, '')
    lines.push({ text, error: word === 'error', ...(stamp?.[1] && { at: Date.parse(stamp[1]) }) })
  }
  while (lines.at(-1)?.text === '') lines.pop()
  return lines
}

/**
 * What a step printed, by its times (GitHub tells them in whole seconds): the lines up to its last error, since the
 * steps that clean up after it may share its last second. All lines where none carries a time of the step.
 */
export function linesOfStep(
  lines: readonly LogLine[],
  step: { readonly startedAt?: number | undefined; readonly endedAt?: number | undefined },
): readonly LogLine[] {
  const { startedAt, endedAt } = step
  if (startedAt === undefined || endedAt === undefined) return lines
  const inside = lines.filter(({ at }) => at !== undefined && at >= startedAt && at < endedAt + 1000)
  if (inside.length === 0) return lines
  const last = inside.findLastIndex(({ error }) => error)
  return last < 0 ? inside : inside.slice(0, last + 1)
}
