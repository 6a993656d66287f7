import type { BackendHarness, EngineCall, EngineFault } from '@runbridge/core/testing'
import {
  type Fault,
  type FaultTarget,
  type GitHubEmulator,
  type RepositorySource,
  type RunFacts,
  type RunScript,
  startGitHubEmulator,
} from '@runbridge/emulators/github'
import { githubActions } from '../backend.js'
import { createGitHubClients, type GitHubClients } from '../clients.js'
import type { GitHubActionsWorkflow } from '../workflow.js'

const OPERATIONS: Record<EngineCall, readonly FaultTarget[]> = {
  start: ['actions/create-workflow-dispatch'],
  read: [
    'repos/get',
    'repos/get-content',
    'actions/get-workflow',
    'actions/list-workflow-runs',
    'actions/list-workflow-runs-for-repo',
    'actions/get-workflow-run-attempt',
    'actions/list-jobs-for-workflow-run-attempt',
  ],
  cancel: ['actions/cancel-workflow-run', 'actions/force-cancel-workflow-run'],
  answer: ['actions/review-pending-deployments-for-run'],
  call: [],
}

const FAULTS: Record<EngineFault, Fault> = {
  lost_after: { kind: 'dropAfterExecuting' },
  lost_before: { kind: 'dropBeforeExecuting' },
  throttled: { kind: 'secondaryLimit', retryAfter: 2 },
  denied: { kind: 'denied' },
  expired: { kind: 'unauthorized' },
  down: { kind: 'status', status: 502 },
}

/** A workflow file that takes the run key and shows it. */
export function workflowFile(inputs: string, name = 'Suite'): string {
  return [
    `name: ${name}`,
    `run-name: ${name} \${{ inputs.runbridge_key }}`,
    'on:',
    '  workflow_dispatch:',
    '    inputs:',
    '      runbridge_key: { type: string }',
    ...inputs.split('\n').map((line) => `      ${line}`),
    'jobs: {}',
    '',
  ].join('\n')
}

const step = (name: string, ms = 1_000) => ({ name, ms })
const result = (value: unknown) => [
  { name: 'runbridge-result', content: { 'result.json': JSON.stringify(value) } },
]

/** The inputs as they were given: GitHub keeps them as texts. */
function echoed({ inputs }: RunFacts): RunScript {
  const { order, note } = inputs
  return {
    jobs: [{ name: 'echo', steps: [step('Echo')] }],
    artifacts: result({ order: Number(order), note }),
  }
}

function decided({ reviews }: RunFacts): RunScript {
  const [review] = reviews
  const decision = review?.state === 'approved' ? 'approve' : 'reject'
  return {
    jobs: [{ name: 'deploy', environment: 'production', steps: [step('Deploy')] }],
    artifacts: result({ decision, comment: review?.comment }),
  }
}

const INPUTS = 'order: { type: number, required: true }\nnote: { type: string }'

const SUITE: RepositorySource = {
  environments: { production: { reviewers: ['octocat'] } },
  workflows: {
    'echoes.yml': { file: workflowFile(INPUTS), script: echoed },
    'fails.yml': {
      file: workflowFile(INPUTS),
      script: {
        jobs: [{ name: 'test', steps: [step('Set up'), { ...step('Break'), conclusion: 'failure' }] }],
      },
    },
    'endless.yml': {
      file: workflowFile(INPUTS),
      script: { jobs: [{ name: 'sleep', steps: [step('Sleep', Number.POSITIVE_INFINITY)] }] },
    },
    'waits.yml': { file: workflowFile(INPUTS), script: decided },
  },
}

export interface TestClock {
  now(): number
  pass(ms: number): void
}

/** A clock that stands where the system's was, until a test lets time pass. */
export function testClock(): TestClock {
  let now = Math.floor(Date.now() / 1000) * 1000
  return {
    now: () => now,
    pass: (ms) => {
      now += ms
    },
  }
}

/** The clients that the product makes, but for the second between two writes. */
export function emulatedClients(url: string, reviewer = true): Promise<GitHubClients> {
  const token = { token: 'secret-of-the-server' }
  return createGitHubClients({
    credentials: token,
    ...(reviewer && { reviewer: { token: 'secret-of-the-reviewer' } }),
    baseUrl: url,
    pacing: false,
  })
}

/** What one test of the suite sees of an emulator of its own. */
export async function openEngine(): Promise<BackendHarness<GitHubActionsWorkflow>> {
  const clock = testClock()
  const emulator: GitHubEmulator = await startGitHubEmulator({
    repositories: { 'octo/suite': SUITE },
    now: clock.now,
  })
  const clients = await emulatedClients(emulator.url)
  const workflow = (file: string): GitHubActionsWorkflow => ({ id: `octo/suite/${file}` })
  return {
    instance: () => githubActions({ clients, now: clock.now }),
    workflows: {
      echoes: workflow('echoes.yml'),
      fails: workflow('fails.yml'),
      endless: workflow('endless.yml'),
      waits: workflow('waits.yml'),
      missing: { id: 'octo/gone/missing.yml' },
    },
    inputs: [
      { order: 17, note: 'ünïcode' },
      { order: 18, note: '' },
    ],
    failure: { code: 'failure', step: 'test / Break' },
    answers: [
      { decision: 'approve', comment: 'go' },
      { decision: 'approve', comment: 'by somebody else' },
    ],
    advance: async () => clock.pass(500),
    executions: () => emulator.runs().length,
    fault(on, fault) {
      for (const operation of OPERATIONS[on]) emulator.faults.always(operation, FAULTS[fault])
    },
    restore: () => emulator.faults.clear(),
    forget: (run) => emulator.forget(Number(run.id)),
    retry: (run) => emulator.rerun(Number(run.id)),
    secrets: () => ['secret-of-the-server', 'secret-of-the-reviewer'],
    close: () => emulator.close(),
  }
}
