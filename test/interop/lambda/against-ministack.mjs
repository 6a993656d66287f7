import { dirname } from 'node:path'
import { run } from '../../bin/command.mjs'
import { node22 } from '../../bin/node22.mjs'
import { startMinistack, VERSION } from '../ministack.mjs'
import { ACCOUNT, furnish, linkSdk, REGION, ROOT } from './account.mjs'
import { cdk } from './cdk.mjs'
import { throughAnAppOfOnesOwn } from './own-app.mjs'
import { throughTheStack } from './stack.mjs'
import { storeTests } from './store-tests.mjs'

/**
 * The stack on a local AWS by others, deployed, used and taken down by the commands of docs/aws.md, and the store's own
 * tests on its DynamoDB.
 * @param {import('../checks.mjs').Checks} checks @param {(line: string) => void} print
 * @param {string | undefined} program AWS's own runtime client, where there is one
 */
export async function againstMinistack(checks, print, program) {
  for (const tool of ['python3', 'openssl']) {
    if ((await run('which', [tool]).catch(() => ({ code: 1 }))).code !== 0) {
      checks.skip('ministack', `${tool} is not installed`)
      return
    }
  }
  print(
    `        ministack ${VERSION}, over TLS alone and with IAM’s policies; the first time it is installed`,
  )
  const ministack = await startMinistack({
    strict: true,
    path: `${dirname(await node22())}:${process.env.PATH}`,
    env: { LAMBDA_ASYNC_RETRY_BASE_SECONDS: '0.1' },
  })
  try {
    linkSdk(ministack)
    const { approvals } = await furnish(ministack)
    await cdk(ministack, ROOT, ['bootstrap', `aws://${ACCOUNT}/${REGION}`])
    const ownApp = () => throughAnAppOfOnesOwn(checks, ministack, program)
    await throughTheStack(checks, ministack, { approvals, meanwhile: ownApp })
  } finally {
    await ministack.close()
  }
  await storeTests(checks)
}
