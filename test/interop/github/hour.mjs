import { createTaskService } from '@runbridge/core'
import { manualClock } from '@runbridge/core/testing'
import { startGitHubEmulator } from '@runbridge/emulators/github'
import { createGitHubClients, githubActions } from '@runbridge/github-actions'
import { memory } from '@runbridge/stores/memory'

const MINUTE = 60_000

const FILE = `
run-name: Nightly \${{ inputs.runbridge_key }}
on: { workflow_dispatch: { inputs: { runbridge_key: { type: string } } } }
jobs: {}
`

/** Five jobs, one after the other, of six steps each: about as long as asked for. */
function script(/** @type {number} */ minutes) {
  const steps = ['Set up', 'Check out', 'Install', 'Build', 'Test', 'Upload'].map((name) => ({
    name,
    ms: Math.floor((minutes * MINUTE) / 30),
  }))
  const jobs = ['lint', 'unit', 'integration', 'image', 'release'].map((name, at, names) => ({
    name,
    steps,
    ...(at > 0 && { needs: [names[at - 1] ?? ''] }),
  }))
  return { jobs, artifacts: [{ name: 'runbridge-result', content: { 'result.json': '{"ok":true}' } }] }
}

/**
 * Follows runs by the real service, backend and Octokit over real sockets, while a simulated clock jumps from one due
 * look to the next. Each task is polled by a client as often as it is told to.
 * @param {{ runs: number, minutes: number, onExchange?: (exchange: import('@runbridge/emulators/github').Exchange) => void }} options
 */
export async function simulatedHour({ runs, minutes, onExchange }) {
  const clock = manualClock()
  const emulator = await startGitHubEmulator({
    repositories: { 'octo/shop': { workflows: { 'nightly.yml': { file: FILE, script: script(minutes) } } } },
    now: clock.now,
    ...(onExchange && { onExchange }),
  })
  const clients = await createGitHubClients({
    credentials: { token: 'a-token' },
    baseUrl: emulator.url,
    pacing: false,
  })
  const backend = githubActions({ clients, now: clock.now })
  const workflow = { id: 'octo/shop/nightly.yml' }
  const { capabilities } = await backend.describe(workflow, { signal: new AbortController().signal })
  const service = createTaskService({
    store: memory(),
    clock,
    validate: () => [],
    tools: [
      {
        name: 'nightly',
        backend,
        workflow,
        capabilities,
        humanInput: 'off',
        progress: true,
        retainMs: 3_600_000,
      },
    ],
  })
  try {
    /** @type {{ key: { owner: string, taskId: string }, at: number }[]} */
    let polls = []
    for (let each = 0; each < runs; each += 1) {
      const request = { owner: 'local', tool: 'nightly', form: /** @type {const} */ ('ext-tasks'), input: {} }
      const outcome = await service.create(request)
      if (outcome.kind !== 'task') throw new Error(outcome.error.message)
      const { owner, taskId } = outcome.task.record
      polls.push({ key: { owner, taskId }, at: clock.now() + outcome.task.pollIntervalMs })
    }
    const started = emulator.calls()
    emulator.resetCalls()
    const end = clock.now() + 60 * MINUTE
    let looks = 0
    /** @type {Set<string>} */
    const states = new Set()
    while (polls.length > 0) {
      polls.sort((a, b) => a.at - b.at)
      const [next] = polls
      if (!next || next.at > end) break
      clock.jump(next.at - clock.now())
      const task = await service.get(next.key)
      looks += 1
      next.at = clock.now() + task.pollIntervalMs
      if (task.record.endedAt === undefined) continue
      states.add(task.record.state)
      polls = polls.filter((poll) => poll !== next)
    }
    const { total, costed, notModified } = emulator.calls()
    return { runs, looks, requests: total, notModified, costed, starts: started.costed, states: [...states] }
  } finally {
    await emulator.close()
  }
}
