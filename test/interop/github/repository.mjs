import { zip } from '@runbridge/emulators/github'

/** @typedef {import('@runbridge/emulators/github').RepositorySource} RepositorySource */

const INPUTS = `
      version: { type: string, required: true, description: What to build }
      dry_run: { type: boolean, default: false }`

/** @param {string} [inputs] */
const file = (inputs = '') => `
name: Shop
run-name: Shop \${{ inputs.runbridge_key }}
on:
  workflow_dispatch:
    inputs:
      runbridge_key: { type: string }${inputs}
jobs: {}
`
const step = (/** @type {string} */ name, ms = 400, more = {}) => ({ name, ms, ...more })
const job = (/** @type {string} */ name, /** @type {any[]} */ steps, more = {}) => ({ name, steps, ...more })

/** @type {RepositorySource} */
export const SHOP = {
  environments: { production: { reviewers: ['octocat'] }, vault: { reviewers: ['somebody-else'] } },
  workflows: {
    'build.yml': {
      file: file(INPUTS),
      script: ({ inputs }) => ({
        jobs: [job('build', [step('Check out'), step('Compile', 900), step('Pack')])],
        artifacts: [
          {
            name: 'runbridge-result',
            content: { 'result.json': JSON.stringify({ image: `shop:${inputs.version}` }) },
          },
          { name: 'binaries', content: { 'shop.txt': 'binary' } },
        ],
      }),
    },
    'unnamed.yml': {
      file: 'on: workflow_dispatch\njobs: {}\n',
      script: { jobs: [job('work', [step('Work')])] },
    },
    'event.yml': {
      file: `run-name: Ship \${{ github.event.client_payload.runbridge_key }}\non: { repository_dispatch: { types: [ship] } }\njobs: {}\n`,
      script: { jobs: [job('ship', [step('Ship')])] },
    },
    'test.yml': {
      file: file(),
      script: {
        jobs: [
          job('lint', [step('Lint')]),
          job(
            'test',
            [
              step('Check out'),
              step('Run tests', 600, {
                conclusion: 'failure',
                log: ['\u001b[31mexpected 1, got 2\u001b[0m', 'token: ***'],
              }),
              step('Upload'),
            ],
            { annotations: [{ path: 'src/sum.ts', line: 7, message: 'expected 1, got 2' }] },
          ),
        ],
      },
    },
    'deploy.yml': {
      file: file(),
      script: ({ reviews }) => ({
        jobs: [
          job('plan', [step('Plan')]),
          job('deploy', [step('Deploy')], { needs: ['plan'], environment: 'production' }),
        ],
        artifacts: [
          {
            name: 'runbridge-result',
            content: { 'r.json': JSON.stringify({ said: reviews[0]?.comment ?? null }) },
          },
        ],
      }),
    },
    'bomb.yml': {
      file: file(),
      script: {
        jobs: [job('work', [step('Work')])],
        artifacts: [
          {
            name: 'runbridge-result',
            content: zip([{ name: 'r.json', data: Buffer.alloc(60_000_000, '1') }]),
          },
        ],
      },
    },
    'long.yml': { file: file(), script: { jobs: [job('sleep', [step('Sleep', Number.POSITIVE_INFINITY)])] } },
    'stubborn.yml': {
      file: file(),
      script: { jobs: [job('sleep', [step('Sleep', Number.POSITIVE_INFINITY)], { ignoresCancel: true })] },
    },
  },
}
