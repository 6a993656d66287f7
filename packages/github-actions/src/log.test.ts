import { type LogPiece, RunbridgeError } from '@runbridge/core'
import { expect, it } from 'vitest'
import { CI, context, createWorld } from './testing/world.js'

const step = (name: string, ms: number, log: string[]) => ({ name, ms, log })
const script = {
  jobs: [
    { name: 'slow', steps: [step('Slow', 60_000, ['slow says hello'])] },
    { name: 'quick', steps: [step('Quick', 1_000, ['quick says hello'])] },
    { name: 'after', needs: ['quick'], steps: [step('After', 1_000, ['after says ***'])] },
  ],
}

it('grows at its end only, and is complete once the run is', async () => {
  const { backend, another, started, clock } = await createWorld({ script })
  const run = await started()
  const read = (offset: number, limit = 10_000, from = backend) =>
    from.log!(CI, run, { offset, limit }, context)
  expect(await read(0)).toEqual({ text: '', complete: false })
  clock.pass(1_500)
  const first = await read(0)
  expect(first.text).toContain('== quick (success) ==')
  expect(first).toMatchObject({ complete: false })
  clock.pass(1_000)
  const second = await read(first.text.length)
  expect(second.text).toContain('after says ***')
  clock.pass(60_000)
  const whole = await read(0, 10_000, another())
  expect(whole.complete).toBe(true)
  expect(whole.text.startsWith(first.text + second.text)).toBe(true)
  expect(whole.text).toContain('slow says hello')

  let text = ''
  let offset: number | undefined = 0
  while (offset !== undefined) {
    const piece = await read(offset, 37)
    expect(piece.text.length).toBeLessThanOrEqual(37)
    text += piece.text
    offset = piece.next
    if (offset === undefined) expect(piece.complete).toBe(true)
  }
  expect(text).toBe(whole.text)
})

it('fetches the log of a job once, however far behind it the next piece is', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `job-${index}`)
  const { backend, started, clock, emulator } = await createWorld({
    script: { jobs: names.map((name) => ({ name, steps: [step('Run', 1_000, [`${name} says hello`])] })) },
  })
  const run = await started()
  clock.pass(60_000)
  let text = ''
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const piece: LogPiece = await backend.log!(CI, run, { offset, limit: 400 }, context)
    text += piece.text
    offset = piece.next
  }
  for (const name of names) expect(text).toContain(`${name} says hello`)
  const { byOperation } = emulator.calls()
  expect(byOperation['actions/download-job-logs-for-workflow-run']).toBe(names.length)
})

it('throws what can be shown', async () => {
  const { backend, emulator } = await createWorld()
  emulator.faults.always('*', { kind: 'denied' })
  const reading = backend.log!(CI, { id: '1', attempt: 1 }, { offset: 0, limit: 10 }, context)
  await expect(reading).rejects.toBeInstanceOf(RunbridgeError)
})
