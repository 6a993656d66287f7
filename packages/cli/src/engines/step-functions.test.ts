import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { resolveTools } from '../compose-of.js'
import { parseConfig } from '../config/config.js'
import { openEngines } from '../engines.js'

const ARN = 'arn:aws:states:us-east-1:123456789012:stateMachine:deploy'
const definition = JSON.stringify({
  StartAt: 'Files',
  States: { Files: { Type: 'Map', ItemProcessor: { ProcessorConfig: { Mode: 'DISTRIBUTED' } }, End: true } },
})
const signal = new AbortController().signal

/** Shows the state machine, and denies everything else. */
const aws = createServer((request, response) => {
  const shown = String(request.headers['x-amz-target']).endsWith('DescribeStateMachine')
  const machine = { stateMachineArn: ARN, name: 'deploy', type: 'STANDARD', definition }
  const denied = { __type: 'AccessDeniedException', message: 'not authorized' }
  response.writeHead(shown ? 200 : 400, { 'content-type': 'application/x-amz-json-1.0' })
  response.end(JSON.stringify(shown ? machine : denied))
})
beforeAll(() => new Promise<void>((resolve) => aws.listen(0, '127.0.0.1', resolve)))
afterAll(() => void aws.close())

/** The permissions that a check asks for. */
async function asked(tool: string): Promise<string[]> {
  const { port } = aws.address() as AddressInfo
  const text = `
store: { memory: {} }
engines: { stepFunctions: { endpoint: "http://127.0.0.1:${port}" } }
tools:
  - name: deploy
    description: Deploys.
    stepFunctions: { stateMachineArn: "${ARN}" }
    ${tool}
`
  const parsed = parseConfig(text, {})
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  const awsCredentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const engines = openEngines(parsed.config.engines, { awsCredentials })
  try {
    const [resolved] = await resolveTools(parsed.config, engines, { signal })
    const bound = await engines.bind(parsed.config.tools[0]!)
    const reports = await bound.access(resolved!.outcome, signal)
    return reports.map(({ permission }) => permission.replace('states:', '')).sort()
  } finally {
    await engines.close()
  }
}

const FOLLOWS = ['DescribeExecution', 'DescribeStateMachine', 'GetExecutionHistory']
const STARTS = ['StartExecution', 'StopExecution']

it('a check asks for the counts of distributed Maps with progress, and not without', async () => {
  expect(await asked('')).toEqual([...FOLLOWS, ...STARTS, 'DescribeMapRun'].sort())
  expect(await asked('progress: false')).toEqual([...FOLLOWS, ...STARTS].sort())
})

it('a tool that watches is asked for no start, and for a stop only where it may', async () => {
  expect(await asked('attach: true')).toEqual([...FOLLOWS, 'DescribeMapRun'].sort())
  const stopping = [...FOLLOWS, 'DescribeMapRun', 'StopExecution'].sort()
  expect(await asked('attach: true\n    cancelAttached: true')).toEqual(stopping)
})
