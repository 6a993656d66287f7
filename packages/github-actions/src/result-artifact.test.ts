import { type ArtifactScript, zip } from '@runbridge/emulators/github'
import { describe, expect, it } from 'vitest'
import { CI, createWorld } from './testing/world.js'

const jobs = [
  { name: 'build', steps: [{ name: 'Build', ms: 2_000 }] },
  { name: 'report', needs: ['build'], steps: [] },
]

async function endOf(artifacts: readonly ArtifactScript[], workflow = CI) {
  const { started, seen, clock } = await createWorld({ script: { jobs, artifacts } })
  const run = await started({}, workflow)
  clock.pass(10_000)
  return seen(run, {}, workflow)
}
const result = (content: ArtifactScript['content'], more = {}) => ({
  name: 'runbridge-result',
  content,
  ...more,
})

describe('the result artifact', () => {
  it('is the output, and every artifact a link', async () => {
    const snapshot = await endOf([
      result({ 'result.json': '\ufeff{"url":"https://example.com","ok":true}' }),
      { name: 'coverage', content: { 'index.html': '<html>' } },
      { name: 'old', content: {}, expired: true },
    ])
    expect(snapshot.output).toEqual({ url: 'https://example.com', ok: true })
    expect(snapshot.links.map(({ title }) => title)).toEqual([
      'Run on GitHub',
      'Artifact runbridge-result',
      'Artifact coverage',
    ])
  })

  it('may have another name, or none', async () => {
    const artifacts = [result({ 'a.json': '1' }), { name: 'out', content: { 'a.json': '"two"' } }]
    expect((await endOf(artifacts, { ...CI, resultArtifact: 'out' })).output).toBe('two')
    expect((await endOf(artifacts, { ...CI, resultArtifact: false })).output).toMatchObject({
      conclusion: 'success',
    })
  })

  it('that is not there leaves conclusion, duration and jobs', async () => {
    expect((await endOf([])).output).toEqual({
      conclusion: 'success',
      seconds: 2,
      jobs: [
        { name: 'build', conclusion: 'success', seconds: 2 },
        { name: 'report', conclusion: 'success', seconds: 0 },
      ],
    })
  })

  const big = Buffer.from(JSON.stringify('x'.repeat(2_000_000)))
  it.each<[string, ArtifactScript['content'], string]>([
    ['a bomb', zip([{ name: 'r.json', data: Buffer.alloc(50_000_000, '1') }]), 'bytes'],
    ['a bomb that lies about its size', zip([{ name: 'r.json', data: big, claimedSize: 10 }]), 'trusted'],
    ['a path that leads out', zip([{ name: '../../r.json', data: big.subarray(0, 9) }]), 'trusted'],
    ['an absolute path', zip([{ name: '/etc/r.json', data: big.subarray(0, 9) }]), 'trusted'],
    ['a path with backslashes', zip([{ name: '..\\r.json', data: big.subarray(0, 9) }]), 'trusted'],
    ['a file in a folder', zip([{ name: 'a/r.json', data: Buffer.from('1') }]), 'no file'],
    ['two files', { 'a.json': '1', 'b.json': '2' }, '2 files'],
    ['no JSON', { 'a.json': '{' }, 'no JSON'],
    ['no zip', Buffer.from('hello'), 'trusted'],
    ['too much', Buffer.alloc(1_100_000, '1'), 'bytes'],
    [
      'too many files',
      zip(Array.from({ length: 101 }, (_, each) => ({ name: `${each}.json`, data: Buffer.from('1') }))),
      '101 files',
    ],
  ])('is refused where it is %s, and the run succeeded all the same', async (_, content, why) => {
    const snapshot = await endOf([result(content)])
    expect(snapshot).toMatchObject({ state: 'succeeded', outputOmitted: expect.stringContaining(why) })
    expect(snapshot).not.toHaveProperty('output')
  })

  it('is found behind a page of others', async () => {
    const others = Array.from({ length: 120 }, (_, each) => ({
      name: `shard-${each}`,
      content: { 'a.json': '0' },
    }))
    const snapshot = await endOf([...others, result({ 'a.json': '"late"' })])
    expect(snapshot.output).toBe('late')
    expect(snapshot.links[1]?.title).toBe('Artifact runbridge-result')
  })

  it('that has expired is said to have', async () => {
    const snapshot = await endOf([result({ 'a.json': '1' }, { expired: true })])
    expect(snapshot.outputOmitted).toContain('expired')
  })

  it('of another attempt is not taken for ours', async () => {
    const { started, seen, clock, emulator } = await createWorld({
      script: ({ attempt }) => ({ jobs: [jobs[0]!], artifacts: [result({ 'a.json': String(attempt) })] }),
    })
    const run = await started()
    clock.pass(300_000)
    emulator.rerun(Number(run.id))
    clock.pass(300_000)
    expect((await seen(run)).output).toBe(1)
    expect((await seen({ ...run, attempt: 2 })).output).toBe(2)
  })

  it('that can not be read now is read later; one that may not be read is said so', async () => {
    const { started, look, clock, emulator } = await createWorld({
      script: { jobs, artifacts: [result({ 'a.json': '1' })] },
    })
    const run = await started()
    clock.pass(10_000)
    for (const operation of ['actions/list-workflow-run-artifacts', 'actions/download-artifact'] as const) {
      emulator.faults.next(operation, { kind: 'status', status: 502 })
      expect(await look(run)).toMatchObject({ kind: 'unreadable', error: { code: 'unavailable' } })
    }
    emulator.faults.next('actions/list-workflow-run-artifacts', { kind: 'denied' })
    expect(await look(run)).toMatchObject({
      snapshot: { state: 'succeeded', outputOmitted: expect.stringContaining('Actions: read') },
    })
    expect(await look(run)).toMatchObject({ snapshot: { output: 1 } })
  })
})
