import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { dynamodbTable } from '@runbridge/stores/dynamodb'
import { App, Duration, Stack, Validations } from 'aws-cdk-lib'
import { Match, Template } from 'aws-cdk-lib/assertions'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { StringParameter } from 'aws-cdk-lib/aws-ssm'
import { DefinitionBody, Pass, StateMachine } from 'aws-cdk-lib/aws-stepfunctions'
import { AwsSolutionsChecks } from 'cdk-nag'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { UNREADABLE } from './alarms.js'
import { CHALLENGE_HEADER } from './http-api.js'
import { readConfig } from './read-config.js'
import { RunbridgeServer, type RunbridgeServerProps } from './runbridge-server.js'

const EXAMPLE = fileURLToPath(new URL('../example.yaml', import.meta.url))
const PLACE = 'arn:aws:states:eu-central-1:111122223333'
const machine = (name: string) => `${PLACE}:stateMachine:${name}`

// The first test loads the CDK, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A stack whose function is not bundled: what is in the bundle is the business of another test. */
function stackOf(
  props: Partial<RunbridgeServerProps> | ((stack: Stack) => Partial<RunbridgeServerProps>) = {},
) {
  const outdir = mkdtempSync(join(tmpdir(), 'runbridge-infra-'))
  folders.push(outdir)
  const app = new App({
    outdir,
    context: { 'aws:cdk:bundling-stacks': [], '@aws-cdk/aws-iam:minimizePolicies': true },
  })
  const stack = new Stack(app, 'Test')
  new RunbridgeServer(stack, 'Server', {
    config: EXAMPLE,
    stateMachines: [{ stateMachineArn: machine('order') }],
    ...(typeof props === 'function' ? props(stack) : props),
  })
  return { app, stack, outdir, template: () => Template.fromStack(stack) }
}

interface Statement {
  readonly Action: string | string[]
  readonly Resource: unknown
  readonly Condition?: unknown
}

/** The statements of the function's role, one for each action and resource. */
function allowed(template: Template): { action: string; resource: unknown; condition?: unknown }[] {
  const policies = Object.values(template.findResources('AWS::IAM::Policy'))
  const statements = policies.flatMap((policy) => policy.Properties.PolicyDocument.Statement as Statement[])
  return statements.flatMap(({ Action, Resource, Condition }) =>
    [Action]
      .flat()
      .flatMap((action) =>
        [Resource]
          .flat()
          .map((resource) => ({ action, resource, ...(Condition ? { condition: Condition } : {}) })),
      ),
  )
}

const ofStates = (template: Template) =>
  allowed(template)
    .filter(({ action }) => action.startsWith('states:'))
    .map(
      ({ action, resource, condition }) =>
        `${action} ${resource}${condition ? ` ${JSON.stringify(condition)}` : ''}`,
    )
    .sort()

describe('permissions', () => {
  it('of a Standard state machine are exactly these, on it and its executions', () => {
    expect(ofStates(stackOf().template())).toEqual([
      `states:DescribeExecution ${PLACE}:execution:order:*`,
      `states:DescribeMapRun ${PLACE}:mapRun:order/*`,
      `states:DescribeStateMachine ${machine('order')}`,
      `states:GetExecutionHistory ${PLACE}:execution:order:*`,
      `states:StartExecution ${machine('order')}`,
      `states:StopExecution ${PLACE}:execution:order:*`,
    ])
  })

  it('to answer are there only where callers may', () => {
    const stateMachines = [{ stateMachineArn: machine('order'), gates: true, progress: false }]
    expect(ofStates(stackOf({ stateMachines }).template())).toEqual([
      `states:DescribeExecution ${PLACE}:execution:order:*`,
      `states:DescribeStateMachine ${machine('order')}`,
      `states:GetExecutionHistory ${PLACE}:execution:order:*`,
      `states:SendTaskFailure ${machine('order')}`,
      `states:SendTaskSuccess ${machine('order')}`,
      `states:StartExecution ${machine('order')}`,
      `states:StopExecution ${PLACE}:execution:order:*`,
    ])
  })

  it('neither start nor stop a run where tools only watch', () => {
    const stateMachines = [
      { stateMachineArn: machine('order'), starts: false, stops: false, progress: false },
    ]
    expect(ofStates(stackOf({ stateMachines }).template())).toEqual([
      `states:DescribeExecution ${PLACE}:execution:order:*`,
      `states:DescribeStateMachine ${machine('order')}`,
      `states:GetExecutionHistory ${PLACE}:execution:order:*`,
    ])
  })

  it('of an Express state machine are two', () => {
    const stateMachines = [{ stateMachineArn: machine('quote'), express: true }]
    expect(ofStates(stackOf({ stateMachines }).template())).toEqual([
      `states:DescribeStateMachine ${machine('quote')}`,
      `states:StartSyncExecution ${machine('quote')}`,
    ])
  })

  it('to assume roles are for those alone that are listed, and leave the description to the function', () => {
    const assumeRoles = ['ada', 'bob'].map((name) => `arn:aws:iam::111122223333:role/${name}`)
    const stateMachines = [{ stateMachineArn: machine('order'), gates: true, byRoles: true }]
    const template = stackOf({ assumeRoles, stateMachines }).template()
    const assumed = allowed(template).filter(({ action }) => action.startsWith('sts:'))
    expect(assumed).toEqual(assumeRoles.map((resource) => ({ action: 'sts:AssumeRole', resource })))
    expect(ofStates(template)).toEqual([`states:DescribeStateMachine ${machine('order')}`])
    expect(Object.keys(template.findOutputs('*'))).toContainEqual(expect.stringContaining('RoleArn'))
  })

  it('to assume roles are not there where none is listed', () => {
    const template = stackOf().template()
    expect(allowed(template).filter(({ action }) => action.startsWith('sts:'))).toEqual([])
    expect(Object.keys(template.findOutputs('*'))).not.toContainEqual(expect.stringContaining('RoleArn'))
  })

  it('of a version or an alias are on the unqualified ARN, and start that one alone', () => {
    const stateMachines = [{ stateMachineArn: `${machine('order')}:live`, progress: false }]
    const states = ofStates(stackOf({ stateMachines }).template())
    expect(states.join('\n')).not.toContain('stateMachine:order:live')
    expect(states).toContain(
      `states:StartExecution ${machine('order')} {"StringEquals":{"states:StateMachineQualifier":"live"}}`,
    )
    expect(states).toContain(`states:DescribeStateMachine ${machine('order')}`)
  })

  it('on the table are what the store calls, and no scan', () => {
    const actions = allowed(stackOf().template())
      .map(({ action }) => action)
      .filter((action) => action.startsWith('dynamodb:'))
    expect([...new Set(actions)].sort()).toEqual(
      ['BatchGetItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem'].map(
        (one) => `dynamodb:${one}`,
      ),
    )
  })

  it('know no wildcard but executions and Map runs of one state machine', () => {
    const wild = allowed(stackOf().template()).filter((one) => JSON.stringify(one).includes('*'))
    expect(
      wild
        .map(({ resource }) => resource)
        .every((resource) => /:(execution:order:|mapRun:order\/)\*$/.test(String(resource))),
    ).toBe(true)
    expect(wild).not.toEqual([])
  })

  it('follow a state machine of the same app, whose ARN is known only when it is deployed', () => {
    const { template } = stackOf((stack) => {
      const made = new StateMachine(stack, 'Made', {
        definitionBody: DefinitionBody.fromChainable(new Pass(stack, 'Done')),
      })
      return { stateMachines: [{ stateMachineArn: made.stateMachineArn }] }
    })
    const start = allowed(template()).find(({ action }) => action === 'states:StartExecution')
    expect(start?.resource).toEqual({ Ref: expect.stringMatching(/^Made/) })
    const read = allowed(template()).find(({ action }) => action === 'states:DescribeExecution')
    expect(JSON.stringify(read?.resource)).toMatch(/:execution:.*Fn::Select.*:\*/)
    template().hasResourceProperties('AWS::Events::Rule', {
      EventPattern: Match.objectLike({
        detail: Match.objectLike({ stateMachineArn: [{ Ref: Match.stringLikeRegexp('^Made') }] }),
      }),
    })
  })

  it('read a parameter and secrets only where they are named', () => {
    expect(
      allowed(stackOf().template())
        .map(({ action }) => action)
        .join(),
    ).not.toMatch(/ssm|secretsmanager/)
    const { template } = stackOf((stack) => ({
      config: StringParameter.fromStringParameterName(stack, 'Config', '/runbridge/config'),
      secrets: { SEAL: Secret.fromSecretNameV2(stack, 'Seal', 'seal') },
    }))
    expect(allowed(template()).map(({ action }) => action)).toEqual(
      expect.arrayContaining(['ssm:GetParameter', 'secretsmanager:GetSecretValue']),
    )
    template().hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          RUNBRIDGE_CONFIG_PARAMETER: '/runbridge/config',
          RUNBRIDGE_SECRETS: Match.anyValue(),
        }),
      },
    })
  })
})

describe('the table', () => {
  it('has the shape that the store describes, is paid by request, encrypted, kept and recoverable', () => {
    const {
      TableName: _,
      BillingMode,
      KeySchema,
      GlobalSecondaryIndexes,
      AttributeDefinitions,
    } = dynamodbTable('')
    stackOf()
      .template()
      .hasResource('AWS::DynamoDB::Table', {
        DeletionPolicy: 'Retain',
        Properties: {
          BillingMode,
          KeySchema,
          GlobalSecondaryIndexes,
          AttributeDefinitions: Match.arrayWith([...AttributeDefinitions].sort(() => 0)),
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          SSESpecification: { SSEEnabled: true },
          TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
        },
      })
  })

  it('is not there for `sealed`, and with it no status changes and no sweeps', () => {
    const template = stackOf({ store: 'sealed' }).template()
    template.resourceCountIs('AWS::DynamoDB::Table', 0)
    template.resourceCountIs('AWS::Events::Rule', 0)
  })
})

describe('events', () => {
  it('are the status changes of exactly the configured Standard state machines and of our runs', () => {
    const stateMachines = [
      { stateMachineArn: `${machine('order')}:live` },
      { stateMachineArn: machine('order') },
      { stateMachineArn: machine('quote'), express: true },
    ]
    stackOf({ stateMachines })
      .template()
      .hasResourceProperties('AWS::Events::Rule', {
        EventPattern: {
          source: ['aws.states'],
          'detail-type': ['Step Functions Execution Status Change'],
          detail: {
            stateMachineArn: [machine('order')],
            name: [{ prefix: 'rb-' }],
            status: ['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED', 'PENDING_REDRIVE'],
          },
        },
      })
  })

  it('that are given up, by EventBridge or by the function, are kept in one queue', () => {
    const template = stackOf().template()
    const queue = { 'Fn::GetAtt': [Match.stringLikeRegexp('DeadLetters'), 'Arn'] }
    for (const input of [Match.absent(), '{"runbridge":"sweep"}']) {
      template.hasResourceProperties('AWS::Events::Rule', {
        Targets: [Match.objectLike({ Input: input, DeadLetterConfig: { Arn: queue } })],
      })
    }
    template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      DestinationConfig: { OnFailure: { Destination: queue } },
    })
    template.hasResourceProperties('AWS::SQS::Queue', {
      SqsManagedSseEnabled: true,
      MessageRetentionPeriod: 14 * 86_400,
    })
  })
})

describe('the function', () => {
  it('has a public URL for callers with tokens, and one that AWS checks for those of IAM', () => {
    stackOf().template().hasResourceProperties('AWS::Lambda::Url', { AuthType: 'NONE' })
    const iam = stackOf({ callers: 'iam' }).template()
    iam.hasResourceProperties('AWS::Lambda::Url', { AuthType: 'AWS_IAM' })
    expect(JSON.stringify(iam.findResources('AWS::Lambda::Permission'))).not.toContain('"*"')
    iam.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ RUNBRIDGE_CALLERS: 'iam' }) },
    })
  })

  it('runs on Node.js 22, and lives longer than an Express run may', () => {
    stackOf()
      .template()
      .hasResourceProperties('AWS::Lambda::Function', {
        Runtime: 'nodejs22.x',
        Architectures: ['arm64'],
        Timeout: 330,
        Handler: 'index.handler',
      })
  })

  it('keeps its log for a bounded time', () => {
    stackOf().template().hasResourceProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 })
  })
})

describe('streaming', () => {
  it('is a mode of the Function URL and of the handler, which live longer than a stream may', () => {
    const template = stackOf({ streaming: true, longestListen: Duration.minutes(10) }).template()
    template.hasResourceProperties('AWS::Lambda::Url', { InvokeMode: 'RESPONSE_STREAM' })
    template.hasResourceProperties('AWS::Lambda::Function', {
      Timeout: 630,
      Environment: { Variables: Match.objectLike({ RUNBRIDGE_LISTEN_MS: '600000' }) },
    })
  })

  it('bounds a stream to a minute without another word, and asks callers for nothing more', () => {
    const streaming = stackOf({ streaming: true, callers: 'iam' }).template()
    const buffered = stackOf({ callers: 'iam' }).template()
    streaming.hasResourceProperties('AWS::Lambda::Function', {
      Timeout: 330,
      Environment: { Variables: Match.objectLike({ RUNBRIDGE_LISTEN_MS: '60000' }) },
    })
    for (const type of ['AWS::Lambda::Permission', 'AWS::IAM::Policy'])
      expect(streaming.findResources(type)).toEqual(buffered.findResources(type))
  })

  it('is off by default', () => {
    const template = stackOf().template()
    template.hasResourceProperties('AWS::Lambda::Url', { InvokeMode: Match.absent() })
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ RUNBRIDGE_LISTEN_MS: Match.absent() }) },
    })
  })

  it.each<[string, Partial<RunbridgeServerProps>, string]>([
    ['longer than a function may', { streaming: true, longestListen: Duration.minutes(15) }, '870 s or less'],
    ['for a time that nothing has', { longestListen: Duration.minutes(2) }, 'set `streaming` too'],
    ['behind an HTTP API', { streaming: true, front: 'api-gateway' }, 'does not stream'],
  ])('is refused %s', (_name, props, message) => {
    expect(() => stackOf(props)).toThrow(message)
  })
})

describe('an HTTP API in front', () => {
  const behind = (props: Partial<RunbridgeServerProps> = {}) =>
    stackOf({ front: 'api-gateway', ...props }).template()

  it('is the only way in, by the stage $default, events of payload 2.0 and two routes', () => {
    const template = behind()
    template.resourceCountIs('AWS::Lambda::Url', 0)
    template.hasResourceProperties('AWS::ApiGatewayV2::Api', { ProtocolType: 'HTTP' })
    template.hasResourceProperties('AWS::ApiGatewayV2::Integration', {
      IntegrationType: 'AWS_PROXY',
      PayloadFormatVersion: '2.0',
    })
    const routes = Object.values(template.findResources('AWS::ApiGatewayV2::Route'))
    expect(routes.map(({ Properties }) => [Properties.RouteKey, Properties.AuthorizationType])).toEqual([
      ['ANY /mcp', 'NONE'],
      ['ANY /.well-known/{proxy+}', 'NONE'],
    ])
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ RUNBRIDGE_FRONT: 'api-gateway' }) },
    })
    template.hasOutput('*', { Value: { 'Fn::Join': ['', Match.arrayWith(['/mcp'])] } })
    stackOf().template().resourceCountIs('AWS::ApiGatewayV2::Api', 0)
  })

  it('bounds what it passes on, and logs every request without what is secret', () => {
    const template = behind({ throttle: { rateLimit: 5, burstLimit: 7 } })
    template.hasResourceProperties('AWS::ApiGatewayV2::Stage', {
      StageName: '$default',
      AutoDeploy: true,
      DefaultRouteSettings: { ThrottlingRateLimit: 5, ThrottlingBurstLimit: 7 },
      AccessLogSettings: {
        DestinationArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('ApiLog'), 'Arn'] },
        Format: Match.not(Match.stringLikeRegexp('header|query|authorizer')),
      },
    })
    behind().hasResourceProperties('AWS::ApiGatewayV2::Stage', {
      DefaultRouteSettings: { ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 },
    })
    expect(() => stackOf({ throttle: { rateLimit: 5 } })).toThrow('`throttle` is of an HTTP API')
  })

  it('has AWS verify who signs, on the one route that is left', () => {
    const template = behind({ callers: 'iam' })
    const routes = Object.values(template.findResources('AWS::ApiGatewayV2::Route'))
    expect(routes.map(({ Properties }) => [Properties.RouteKey, Properties.AuthorizationType])).toEqual([
      ['ANY /mcp', 'AWS_IAM'],
    ])
  })

  it('gives the challenge its name back, from where the handler copies it to', () => {
    behind().hasResourceProperties('AWS::ApiGatewayV2::Integration', {
      ResponseParameters: {
        401: {
          ResponseParameters: [
            {
              Destination: 'overwrite:header.www-authenticate',
              Source: `$response.header.${CHALLENGE_HEADER}`,
            },
          ],
        },
      },
    })
    const handler = new URL('../../packages/server/src/lambda.ts', import.meta.url)
    expect(readFileSync(handler, 'utf8')).toContain(`CHALLENGE_HEADER = '${CHALLENGE_HEADER}'`)
  })

  it('serves no Express state machine, and says so before anything is deployed', () => {
    const stateMachines = [{ stateMachineArn: machine('quote'), express: true }]
    expect(() => behind({ stateMachines })).toThrow(/quote: an Express state machine .* after 30 s/)
  })
})

describe('alarms', () => {
  it('are for errors, throttles, dead letters and unreadable runs', () => {
    const found = stackOf().template().findResources('AWS::CloudWatch::Alarm')
    expect(
      Object.values(found)
        .map(({ Properties }) => Properties.MetricName)
        .sort(),
    ).toEqual([
      'ApproximateNumberOfMessagesVisible',
      'Errors',
      'Throttles',
      expect.stringMatching(/-unreadable$/),
    ])
  })

  it('count the words that the task service logs', () => {
    stackOf()
      .template()
      .hasResourceProperties('AWS::Logs::MetricFilter', {
        FilterPattern: `{ $.msg = "${UNREADABLE}" }`,
      })
    const service = new URL('../../packages/core/src/service/refresh.ts', import.meta.url)
    expect(readFileSync(service, 'utf8')).toContain(`'${UNREADABLE}'`)
  })
})

it.each<[string, () => Partial<RunbridgeServerProps>]>([
  ['a Function URL', () => readConfig(EXAMPLE, [])],
  ['a Function URL that streams', () => ({ streaming: true })],
  ['an HTTP API', () => ({ front: 'api-gateway' })],
  ['an HTTP API for those who sign', () => ({ front: 'api-gateway', callers: 'iam' })],
])('cdk-nag (AwsSolutions) finds nothing that is not justified in the code, behind %s', (_name, props) => {
  const { app, outdir } = stackOf(props())
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
  app.synth()
  const report = JSON.parse(readFileSync(join(outdir, 'validation-report.json'), 'utf8'))
  const { pluginReports } = report
  expect(pluginReports).toHaveLength(1)
  expect(JSON.stringify(pluginReports)).toContain('AwsSolutions')
  expect(pluginReports.flatMap(({ violations }: { violations: object[] }) => violations)).toEqual([])
})

describe('a configuration file', () => {
  it('tells the state machines, and what their tools do with each', () => {
    const usual = { express: false, starts: true, stops: true, gates: false, progress: true }
    expect(readConfig(EXAMPLE, [])).toEqual({
      store: 'dynamodb',
      assumeRoles: [],
      stateMachines: [
        { ...usual, stateMachineArn: `${machine('fulfil-order')}:live` },
        { ...usual, stateMachineArn: machine('deploy'), gates: true },
        { ...usual, stateMachineArn: machine('quote'), express: true },
      ],
    })
  })
})
