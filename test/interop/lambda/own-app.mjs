import { deepStrictEqual, match } from 'node:assert'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '../client.mjs'
import { eventually, newToken, ROOT, resources } from './account.mjs'
import { appOf, cdk, synthesized } from './cdk.mjs'
import { throughTheReads } from './reads.mjs'
import { startUrlFront } from './url-front.mjs'

/** @typedef {import('../checks.mjs').Checks} Checks */
/** @typedef {import('../ministack.mjs').Ministack} Ministack */

const NAME = 'ministack'

/**
 * The construct in an app that has its state machine, with its configuration in a parameter.
 * @param {Checks} checks @param {Ministack} ministack @param {string | undefined} program
 */
export async function throughAnAppOfOnesOwn(checks, ministack, program) {
  const { check, known } = checks
  const { call, folder } = ministack
  const { token, arn } = await newToken(ministack, 'orders/token')
  const out = join(folder, 'orders')
  const outputs = join(folder, 'orders.json')
  const options = ['--app', appOf('examples/orders'), '-c', `token=${arn}`, '--output', out]
  await known(
    `${NAME}: a secret of the same template is referred to by its ARN`,
    'its CloudFormation gives the name, which no policy is for; the app takes a secret that is there',
    async () => {
      const secret = { Type: 'AWS::SecretsManager::Secret' }
      const TemplateBody = { Resources: { It: secret }, Outputs: { Is: { Value: { Ref: 'It' } } } }
      const StackName = 'secret'
      await call('cloudformation', 'CreateStack', { StackName, TemplateBody: JSON.stringify(TemplateBody) })
      const described = () => call('cloudformation', 'DescribeStacks', { StackName })
      const xml = await eventually('its output', async () => {
        const now = await described()
        return /<OutputValue>/.test(now) && now
      })
      match(xml, /<OutputValue>arn:/)
    },
  )
  let deployed = false
  await check(
    `${NAME}: the construct in an app that has its state machine, configured by a parameter of SSM`,
    async () => {
      const how = ['--require-approval', 'never', '--outputs-file', outputs]
      await cdk(ministack, ROOT, ['deploy', ...options, ...how])
      deployed = true
      const url = String(Object.values(JSON.parse(readFileSync(outputs, 'utf8')).Orders)[0])
      const front = await startUrlFront(ministack, url, { authorization: `Bearer ${token}` })
      try {
        const client = await connect(front.url, () => ({ action: 'cancel' }))
        const { end } = await client.call('fulfil_order', { order: 7 })
        deepStrictEqual((await end).structured, { order: 7 })
        await client.close()
      } catch (thrown) {
        throw new Error(`${thrown}: ${front.trouble()}`)
      } finally {
        await front.close()
      }
    },
  )
  if (!deployed) return
  await throughTheReads(checks, ministack, { program, bundle: synthesized(out, 'Orders').bundle })
  await check(`${NAME}: with tableRemovalPolicy DESTROY nothing but the log is left`, async () => {
    await cdk(ministack, ROOT, ['destroy', '--app', out, '--force'])
    const { table, fn } = await resources(ministack, 'Orders')
    deepStrictEqual([table, fn], ['', ''])
  })
}
