import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { RunEnd } from '../client/run-tool.js'
import { SCENES, type Scene, sceneProblem } from '../demo/scenes.js'
import { built, main, startNode } from '../testing/start-node.js'

describe('runbridge demo', () => {
  let folder: string
  beforeAll(built, 60_000)
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runbridge-demo-test-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const demo = () => startNode([main, 'demo'], { cwd: folder, env: { TMPDIR: folder } })

  it('shows task, states, question, answer, result and failing step, and leaves nothing behind', async () => {
    const { status, out, err } = await demo().ended
    expect({ status, err }).toEqual({ status: 0, err: '' })
    const inOrder = [
      /task +tsk_\S+/,
      /working +The run goes on/,
      /completed/,
      /result +\{"orderId":"1001","parcel":"P-1001","stockAttempts":3\}/,
      /input_required +Roll out this version to production\?/,
      /answer +accept \{"comment":"Friday is fine"\}/,
      /result +\{"deployed":"1\.2\.3","approvalComment":"Friday is fine"\}/,
      /failure +The run failed at step "ImportFile" with "FileMissing"/,
      /input_required +Publish this translation\?/,
      /result +\{"language":"fr","pages":3,"review":\{"approved":true,"editor":"Ada"\}\}/,
      /failure +The run failed at step "test \/ Run tests" with "failure"/,
      /log +total of an order: expected 48\.00, got 4800/,
      /input_required +Approve the deployment to production in run \d+ of demo\/shop\?/,
      /result +\{"released":"1\.2\.3","comment":"Ship it"\}/,
      /All as it should be/,
    ]
    const places = inOrder.map((pattern) => out.search(pattern))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(places).not.toContain(-1)
    expect(await readdir(folder)).toEqual([])
  }, 40_000)

  it('stops at SIGINT with status 1, and leaves nothing behind', async () => {
    const running = demo()
    await running.said(/tsk_/)
    running.kill('SIGINT')
    const { status, err } = await running.ended
    expect({ status, err }).toEqual({
      status: 1,
      err: 'runbridge: The demo is incomplete. It was stopped.\n',
    })
    expect(await readdir(folder)).toEqual([])
  })
})

describe('what of a scene is not as it should be', () => {
  const deploy = SCENES.find(({ tool }) => tool === 'deploy') as Scene
  const right: RunEnd = {
    status: 'completed',
    isError: false,
    texts: [deploy.expected.text],
    taskId: 'tsk_1',
  }

  it('is nothing when all is', () => {
    expect(sceneProblem(deploy, right, 1)).toBeUndefined()
  })

  it.each<[string, Partial<RunEnd>, number]>([
    ['deploy ended failed', { status: 'failed' }, 1],
    ['deploy ended cancelled', { status: 'cancelled' }, 1],
    ['deploy failed', { isError: true }, 1],
    ['deploy ended without', { texts: ['{"deployed":"1.2.3"}'] }, 1],
    ['deploy asked 0 times', {}, 0],
    ['deploy asked 2 times', {}, 2],
  ])('%s', (problem, change, asked) => {
    expect(sceneProblem(deploy, { ...right, ...change }, asked)).toContain(problem)
  })

  it('deploy did not become a task', () => {
    const { taskId: _, ...immediate } = right
    expect(sceneProblem(deploy, immediate, 1)).toBe('deploy did not become a task.')
  })
})
