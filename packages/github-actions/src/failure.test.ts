import type { JobScript, StepScript } from '@runbridge/emulators/github'
import { describe, expect, it } from 'vitest'
import { cleanLines, linesOfStep } from './clean-log.js'
import { createWorld } from './testing/world.js'

const step = (name: string, more: Partial<StepScript> = {}): StepScript => ({ name, ms: 5_000, ...more })

const JOBS: JobScript[] = [
  { name: 'lint', steps: [step('Lint', { log: ['all fine'] })] },
  {
    name: 'test',
    steps: [
      step('Check out', { log: ['checked out'] }),
      step('Run tests', {
        conclusion: 'failure',
        log: ['\u001b[31mexpected 1, got 2\u001b[0m', '##[warning]slow', 'token is ***', '##[debug]x'],
      }),
      step('Upload', { log: ['never'] }),
    ],
    annotations: [
      { path: 'src/sum.ts', line: 7, title: 'sum', message: 'expected 1, got 2' },
      { path: '.github', line: 1, level: 'warning', message: 'Node 16 is old' },
    ],
  },
  { name: 'deploy', needs: ['test'], steps: [step('Deploy')] },
]

async function failed(jobs: JobScript[] = JOBS) {
  const world = await createWorld({ script: { jobs } })
  const run = await world.started()
  world.clock.pass(60_000)
  return { ...world, run }
}

it('a failure names job and step, notes, jobs, and the end of that step alone', async () => {
  const { seen, run } = await failed()
  const snapshot = await seen(run)
  expect(snapshot.error).toMatchObject({
    code: 'failure',
    step: 'test / Run tests',
    message: 'expected 1, got 2',
  })
  expect(snapshot.error?.detail?.split('\n')).toEqual([
    'Jobs:',
    'lint: success, 5 s',
    'test: failure, 10 s',
    'deploy: skipped, 0 ms',
    '',
    'failure src/sum.ts:7: sum: expected 1, got 2',
    '',
    'warning: Node 16 is old',
    '',
    'Log of test / Run tests:',
    'Run Run tests',
    'Run tests',
    'expected 1, got 2',
    'Warning: slow',
    'token is ***',
    'Debug: x',
    'Error: Process completed with exit code 1.',
  ])
  expect(snapshot.links.map(({ title }) => title)).toEqual(['Run on GitHub', 'Job test'])
})

it('the link leads to the job that failed, and to none whose name begins like it', async () => {
  const { seen, run } = await failed([
    { name: 'test', steps: [step('Run')] },
    { name: 'test-arm', steps: [step('Run', { conclusion: 'failure' })] },
  ])
  const { error, links } = await seen(run)
  expect(error?.step).toBe('test-arm / Run')
  expect(links.map(({ title }) => title)).toEqual(['Run on GitHub', 'Job test-arm'])
})

it('a long log is cut to its end', async () => {
  const log = Array.from({ length: 60_000 }, (_, line) => `line ${line} ${'x'.repeat(60)}`)
  const { seen, run } = await failed([{ name: 'test', steps: [step('Run', { conclusion: 'failure', log })] }])
  const { detail = '' } = (await seen(run)).error ?? {}
  expect(Buffer.byteLength(detail)).toBeLessThan(9_000)
  expect(detail).toContain('[cut: ')
  expect(detail).toContain('line 59999')
  expect(detail.trimEnd().split('\n').at(-1)).toBe('Error: Process completed with exit code 1.')
})

it('what only adds to a failure does not hold it back', async () => {
  const { seen, look, run, emulator, warnings } = await failed()
  emulator.faults.next('checks/list-annotations', { kind: 'denied' })
  emulator.faults.next('actions/download-job-logs-for-workflow-run', { kind: 'status', status: 500 })
  const { error } = await seen(run)
  expect(error).toMatchObject({
    code: 'failure',
    step: 'test / Run tests',
    message: 'Job test ended with failure.',
  })
  expect(error?.detail).not.toContain('Log of')
  expect(warnings).toHaveLength(2)
  emulator.faults.next('checks/list-annotations', { kind: 'secondaryLimit', retryAfter: 5 })
  expect(await look(run)).toMatchObject({ kind: 'unreadable', retryAfterMs: 5_000 })
})

it('a run that never had a job says so', async () => {
  const { started, seen } = await createWorld({ script: { conclusion: 'startup_failure' } })
  expect((await seen(await started())).error).toEqual({
    code: 'startup_failure',
    message: 'GitHub shows no job of it.',
  })
})

describe('a raw log', () => {
  const raw = [
    '\ufeff2026-01-02T03:04:05.1234567Z ##[group]Run npm test',
    '2026-01-02T03:04:05.2000000Z \u001b[36;1mnpm test\u001b[0m',
    '2026-01-02T03:04:05.3000000Z ##[endgroup]',
    '2026-01-02T03:04:06.0000000Z \u001b]8;;https://x\u0007link\u001b]8;;\u0007 \u0000bell\u0007',
    '2026-01-02T03:04:06.1000000Z 2026-01-01T00:00:00Z its own time\t***',
    '2026-01-02T03:04:07.9000000Z ##[error]Process completed with exit code 1.',
    '2026-01-02T03:04:07.9500000Z Post job cleanup.',
    'no \u009b31mtime\u009b0m\u0085',
    '',
  ].join('\r\n')

  it('loses the signs of GitHub and of the terminal, and nothing else', () => {
    expect(cleanLines(raw).map(({ text }) => text)).toEqual([
      'Run npm test',
      'npm test',
      'link bell',
      '2026-01-01T00:00:00Z its own time\t***',
      'Error: Process completed with exit code 1.',
      'Post job cleanup.',
      'no time',
    ])
  })

  it('is cut down to a step by its times, up to its last error', () => {
    const at = (text: string) => Date.parse(`2026-01-02T${text}Z`)
    const lines = cleanLines(raw)
    const of = (from: string, to: string) =>
      linesOfStep(lines, { startedAt: at(from), endedAt: at(to) }).map(({ text }) => text)
    expect(of('03:04:06', '03:04:07')).toEqual([
      'link bell',
      '2026-01-01T00:00:00Z its own time\t***',
      'Error: Process completed with exit code 1.',
    ])
    expect(of('05:00:00', '05:00:01')).toHaveLength(7)
    expect(linesOfStep(lines, {})).toHaveLength(7)
  })
})
