import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { App } from 'aws-cdk-lib'
import { Match, Template } from 'aws-cdk-lib/assertions'
import { afterAll, expect, it } from 'vitest'
import { Shop } from '../examples/in-your-app.js'

const outdir = mkdtempSync(join(tmpdir(), 'runbridge-infra-'))
const cwd = process.cwd()
afterAll(() => {
  process.chdir(cwd)
  rmSync(outdir, { recursive: true, force: true })
})

it('the five lines of docs/aws.md serve a state machine of the same stack', { timeout: 60_000 }, () => {
  // The CDK runs an app in the folder of its cdk.json, where the configuration lies too.
  process.chdir(fileURLToPath(new URL('../examples', import.meta.url)))
  const app = new App({ outdir, context: { 'aws:cdk:bundling-stacks': [] } })
  const template = Template.fromStack(new Shop(app, 'Shop'))
  const orders = { Ref: Match.stringLikeRegexp('^Orders') }
  template.hasResourceProperties('AWS::Lambda::Function', {
    Environment: { Variables: Match.objectLike({ ORDERS: orders }) },
  })
  template.hasResourceProperties('AWS::Events::Rule', {
    EventPattern: Match.objectLike({ detail: Match.objectLike({ stateMachineArn: [orders] }) }),
  })
  const policies = JSON.stringify(template.findResources('AWS::IAM::Policy'))
  expect(policies).toContain('states:SendTaskSuccess')
})
