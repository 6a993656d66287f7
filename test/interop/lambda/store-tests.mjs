import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { bin, run } from '../../bin/command.mjs'
import { startMinistack } from '../ministack.mjs'

/** Of the DynamoDB store; `npm test` runs them on dynalite. */
const FILES = ['dynamodb.test.ts', 'dynamodb-table.test.ts', 'dynamodb-processes.test.ts']

/**
 * The tests of the DynamoDB store on ministack's: the kit, sizes, lost answers, several processes.
 * @param {import('../checks.mjs').Checks} checks
 */
export async function storeTests({ check }) {
  const ministack = await startMinistack()
  const report = join(ministack.folder, 'report.json')
  try {
    for (const file of FILES) {
      await check(`ministack: the store’s tests on its DynamoDB, ${file}`, async () => {
        const args = ['run', `packages/stores/src/${file}`, '--reporter=json', `--outputFile=${report}`]
        const { output } = await run(bin('vitest'), args, { env: { RUNBRIDGE_DYNAMODB_URL: ministack.url } })
        const { numPassedTests, success, testResults } = reported(report, output)
        const failed = testResults.flatMap((/** @type {any} */ { assertionResults }) =>
          assertionResults.filter((/** @type {any} */ { status }) => status === 'failed'),
        )
        if (success && numPassedTests > 0) return
        throw new Error(
          failed.map((/** @type {any} */ { fullName }) => fullName).join('; ') || output.slice(-800),
        )
      })
    }
  } finally {
    await ministack.close()
  }
}

/** @param {string} report @param {string} output */
function reported(report, output) {
  try {
    return JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    throw new Error(`vitest made no report: ${output.slice(-800)}`)
  } finally {
    rmSync(report, { force: true })
  }
}
