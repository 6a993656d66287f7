import { type GitHubEmulator, startGitHubEmulator } from '@runbridge/emulators/github'

const file = (name: string, inputs: string) => `
name: ${name}
run-name: ${name} \${{ inputs.runbridge_key }}
on:
  workflow_dispatch:
    inputs:
      runbridge_key: { type: string }
${inputs}
jobs: {}
`

/**
 * The demo's GitHub workflows on the embedded stand-in: tests that fail, and a release whose deployment waits for a
 * reviewer.
 * @param pace of their steps: 1 as a person follows it, 0 for tests
 */
export function startDemoGitHub(pace = 1): Promise<GitHubEmulator> {
  const step = (name: string, ms: number, more = {}) => ({ name, ms: ms * pace, ...more })
  return startGitHubEmulator({
    tokens: { 'demo-server': { login: 'runbridge' }, 'demo-reviewer': { login: 'ada' } },
    repositories: {
      'demo/shop': {
        environments: { production: { reviewers: ['ada'] } },
        workflows: {
          'ci.yml': {
            file: file('CI', '      suite: { type: choice, options: [unit, browser], default: unit }'),
            script: {
              jobs: [
                { name: 'lint', steps: [step('Lint', 500)] },
                {
                  name: 'test',
                  steps: [
                    step('Check out', 300),
                    step('Run tests', 900, {
                      conclusion: 'failure',
                      log: [
                        '\u001b[31mtotal of an order: expected 48.00, got 4800\u001b[0m',
                        '1 failed, 211 passed',
                      ],
                    }),
                    step('Upload coverage', 300),
                  ],
                  annotations: [
                    {
                      path: 'src/order.ts',
                      line: 42,
                      message: 'total of an order: expected 48.00, got 4800',
                    },
                  ],
                },
              ],
            },
          },
          'release.yml': {
            file: file('Release', '      version: { type: string, required: true }'),
            script: ({ inputs, reviews }) => ({
              jobs: [
                { name: 'package', steps: [step('Package', 400)] },
                {
                  name: 'deploy',
                  needs: ['package'],
                  environment: 'production',
                  steps: [step('Roll out', 600)],
                },
              ],
              artifacts: [
                {
                  name: 'runbridge-result',
                  content: {
                    'result.json': JSON.stringify({ released: inputs.version, comment: reviews[0]?.comment }),
                  },
                },
              ],
            }),
          },
        },
      },
    },
  })
}
