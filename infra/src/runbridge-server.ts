import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { statusChangePattern } from '@runbridge/step-functions'
import { CfnOutput, Duration, type RemovalPolicy, Stack, Token, Validations } from 'aws-cdk-lib'
import type { HttpApi, ThrottleSettings } from 'aws-cdk-lib/aws-apigatewayv2'
import type { Table } from 'aws-cdk-lib/aws-dynamodb'
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import {
  Architecture,
  FunctionUrlAuthType,
  InvokeMode,
  type Function as LambdaFn,
  Runtime,
} from 'aws-cdk-lib/aws-lambda'
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations'
import { NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import type { IStringParameter } from 'aws-cdk-lib/aws-ssm'
import { Construct } from 'constructs'
import { compileConfig } from 'runbridge'
import { alarms } from './alarms.js'
import { ALIASES, BUNDLING } from './bundling.js'
import { httpApi } from './http-api.js'
import { grantStore, taskTable } from './task-table.js'
import { statementsFor, unqualified, type WorkflowAccess } from './workflow-access.js'

/** Any secret of the CDK; all of `ISecret` is not what its own `Secret` is for who has `exactOptionalPropertyTypes`. */
type ReadableSecret = Pick<ISecret, 'grantRead' | 'secretArn'>

export interface RunbridgeServerProps {
  /**
   * `runbridge.yaml`: the path of a file, which is bundled, or a parameter of SSM, which is read at each cold start.
   * It may use `${RUNBRIDGE_TABLE}`, `${AWS_REGION}`, `${RUNBRIDGE_ADDRESS}`, and the names in `environment` and
   * `secrets`.
   */
  readonly config: string | IStringParameter
  /** The state machines of its tools, and no others: what the function may do follows from this list. */
  readonly stateMachines: readonly WorkflowAccess[]
  /**
   * The roles that the function may assume: `roleArn` of `engines.stepFunctions` in the configuration, else those in
   * `roles`. Each has to trust the function's role too. Default: none.
   */
  readonly assumeRoles?: readonly string[]
  /** How callers are known. Default `tokens`, as `server.auth` says; `iam`: they sign with SigV4. */
  readonly callers?: 'tokens' | 'iam'
  /**
   * What clients reach. Default `function-url`. `api-gateway`: an HTTP API, which can have a domain of your own, and
   * gives up on an answer after 30 s, so that it serves no Express state machine.
   */
  readonly front?: 'function-url' | 'api-gateway'
  /** Requests that an HTTP API passes on. Default 100 a second, in bursts of 200. */
  readonly throttle?: ThrottleSettings
  /**
   * Whether `subscriptions/listen` is served, by a Function URL that streams answers. Each stream holds a sandbox and is
   * billed for as long as it is open. Default false: it is refused, and clients poll.
   */
  readonly streaming?: boolean
  /** How long a stream stays open before its client has to ask again. Default 1 minute, at most 870 s. */
  readonly longestListen?: Duration
  /** Default `dynamodb`. `sealed`: no table, no status changes and no sweeps; see docs/stores.md. */
  readonly store?: 'dynamodb' | 'sealed'
  /** Variables of the configuration that are no secrets. */
  readonly environment?: Readonly<Record<string, string>>
  /** Variables of the configuration that are, each from Secrets Manager. */
  readonly secrets?: Readonly<Record<string, ReadableSecret>>
  /** In MB, default 512. A cold start computes for most of its time, and Lambda gives a processor's share by the memory. */
  readonly memorySize?: number
  /** Executions at the same time, so that callers can't use up the account's. Default: not bounded. */
  readonly maxConcurrency?: number
  /** How often expired tasks are removed and starts settled. Default 1 minute. */
  readonly sweepEvery?: Duration
  /** Default 1 month. */
  readonly logRetention?: RetentionDays
  /** Told of every alarm. Default: nobody. */
  readonly alarmTopic?: ITopic
  /** What becomes of the table with its stack. Default: it stays. */
  readonly tableRemovalPolicy?: RemovalPolicy
}

/** An Express run may take five minutes; nothing else but a listen takes more than seconds. In seconds. */
const TIMEOUT = 330
/** Lambda stops whatever takes longer, in seconds; and what a listen leaves of it. */
const LONGEST_TIMEOUT = 900
const LISTEN_MARGIN = 30

const HANDLER = fileURLToPath(new URL('../lambda/handler.ts', import.meta.url))
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const { version } = JSON.parse(readFileSync(`${ROOT}packages/cli/package.json`, 'utf8')) as {
  version: string
}

/** The server on Lambda: one URL, one table, and nothing that runs while nobody calls but a sweep a minute. */
export class RunbridgeServer extends Construct {
  /** Where clients reach MCP. */
  readonly url: string
  readonly fn: LambdaFn
  /** The function's own, for the trust policies of roles that it assumes. */
  readonly role: Role
  /** Behind a Function URL there is none. */
  readonly api: HttpApi | undefined
  readonly table: Table | undefined
  /** What was given up: status changes and sweeps. */
  readonly deadLetters: Queue

  constructor(scope: Construct, id: string, props: RunbridgeServerProps) {
    super(scope, id)
    const { config, stateMachines, callers = 'tokens', store = 'dynamodb', secrets = {} } = props
    const { front = 'function-url', logRetention = RetentionDays.ONE_MONTH } = props
    checkFront(props)
    const listen = listenOf(props)
    const stack = Stack.of(this)
    const logGroup = new LogGroup(this, 'Log', { retention: logRetention })
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
    this.role = role
    logGroup.grantWrite(role)
    this.deadLetters = new Queue(this, 'DeadLetters', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    })
    this.table =
      store === 'dynamodb'
        ? taskTable(this, 'Tasks', {
            ...(props.tableRemovalPolicy && { removalPolicy: props.tableRemovalPolicy }),
          })
        : undefined
    this.fn = new NodejsFunction(this, 'Server', {
      entry: HANDLER,
      projectRoot: ROOT,
      depsLockFilePath: `${ROOT}package-lock.json`,
      runtime: Runtime.NODEJS_22_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memorySize ?? 512,
      timeout: Duration.seconds(Math.max(TIMEOUT, (listen?.toSeconds() ?? 0) + LISTEN_MARGIN)),
      role,
      logGroup,
      onFailure: new SqsDestination(this.deadLetters),
      ...(props.maxConcurrency !== undefined && { reservedConcurrentExecutions: props.maxConcurrency }),
      environment: {
        ...props.environment,
        RUNBRIDGE_CALLERS: callers,
        RUNBRIDGE_FRONT: front,
        RUNBRIDGE_VERSION: version,
        ...(listen && { RUNBRIDGE_LISTEN_MS: String(listen.toMilliseconds()) }),
        ...(this.table && { RUNBRIDGE_TABLE: this.table.tableName }),
        ...(typeof config !== 'string' && { RUNBRIDGE_CONFIG_PARAMETER: config.parameterName }),
        ...(Object.keys(secrets).length > 0 && { RUNBRIDGE_SECRETS: secretNames(stack, secrets) }),
      },
      bundling: {
        ...BUNDLING,
        format: OutputFormat.ESM,
        bundleAwsSDK: true,
        esbuildArgs: Object.fromEntries(
          Object.entries(ALIASES).map(([name, file]) => [`--alias:${name}`, file]),
        ),
        commandHooks: copying(typeof config === 'string' ? compiled(config) : yaml()),
      },
    })

    const statements = stateMachines.flatMap((access) => statementsFor(stack, access))
    for (const statement of statements) role.addToPolicy(statement)
    if (props.assumeRoles?.length) {
      role.addToPolicy(
        new PolicyStatement({ actions: ['sts:AssumeRole'], resources: [...props.assumeRoles] }),
      )
    }
    if (this.table) grantStore(this.table, role)
    if (typeof config !== 'string') config.grantRead(role)
    for (const secret of Object.values(secrets)) secret.grantRead(role)

    const target = { deadLetterQueue: this.deadLetters }
    const standard = stateMachines.filter(({ express }) => !express)
    if (this.table && standard.length > 0) {
      new Rule(this, 'StatusChanges', {
        description: 'Runs that Runbridge started have changed: their tasks are brought up to date at once',
        eventPattern: patternFor(stack, standard),
        targets: [new LambdaFunction(this.fn, target)],
      })
    }
    if (this.table) {
      new Rule(this, 'Sweep', {
        description: 'Removes expired tasks, settles starts that nobody asks for',
        schedule: Schedule.rate(props.sweepEvery ?? Duration.minutes(1)),
        targets: [
          new LambdaFunction(this.fn, {
            ...target,
            event: RuleTargetInput.fromObject({ runbridge: 'sweep' }),
          }),
        ],
      })
    }
    alarms(this, {
      fn: this.fn,
      deadLetters: this.deadLetters,
      logGroup,
      ...(props.alarmTopic && { topic: props.alarmTopic }),
    })

    this.api =
      front === 'api-gateway'
        ? httpApi(this, 'Api', {
            fn: this.fn,
            callers,
            logRetention,
            ...(props.throttle && { throttle: props.throttle }),
          })
        : undefined
    this.url = this.api ? `${this.api.apiEndpoint}/mcp` : `${this.functionUrl(props)}mcp`
    new CfnOutput(this, 'Url', { value: this.url, description: 'Where clients reach MCP' })
    if (props.assumeRoles?.length) {
      new CfnOutput(this, 'RoleArn', {
        value: role.roleArn,
        description: 'What the assumed roles have to trust',
      })
    }
    acknowledge(this, role, statements)
  }

  private functionUrl({ callers, streaming }: RunbridgeServerProps): string {
    const authType = callers === 'iam' ? FunctionUrlAuthType.AWS_IAM : FunctionUrlAuthType.NONE
    return this.fn.addFunctionUrl({
      authType,
      ...(streaming && { invokeMode: InvokeMode.RESPONSE_STREAM }),
    }).url
  }
}

/** How long a stream stays open; undefined without streaming. */
function listenOf({ streaming, longestListen }: RunbridgeServerProps): Duration | undefined {
  if (!streaming) {
    if (!longestListen) return undefined
    throw new Error('`longestListen` bounds streams that are not served: set `streaming` too.')
  }
  const listen = longestListen ?? Duration.minutes(1)
  if (listen.toSeconds() + LISTEN_MARGIN <= LONGEST_TIMEOUT) return listen
  throw new Error(
    `\`longestListen\` is ${listen.toSeconds()} s: a function runs for ${LONGEST_TIMEOUT} s at most, and ends its streams before. Write ${LONGEST_TIMEOUT - LISTEN_MARGIN} s or less.`,
  )
}

/** What the handler would refuse when it starts, before anything is deployed. */
function checkFront({ front, stateMachines, throttle, streaming }: RunbridgeServerProps): void {
  if (front !== 'api-gateway') {
    if (!throttle) return
    throw new Error(
      '`throttle` is of an HTTP API. Behind a Function URL, `maxConcurrency` bounds the function.',
    )
  }
  if (streaming) {
    throw new Error('An HTTP API does not stream answers: leave `streaming` or `front` out.')
  }
  const express = stateMachines.filter((machine) => machine.express)
  if (express.length === 0) return
  const arns = express.map(({ stateMachineArn }) => stateMachineArn).join(', ')
  throw new Error(
    `${arns}: an Express state machine is answered within the call, which may take five minutes, and API Gateway gives up after 30 s. Leave \`front\` out, which makes a Function URL.`,
  )
}

function patternFor(stack: Stack, machines: readonly WorkflowAccess[]) {
  const arns = machines.map((machine) => unqualified(stack, machine))
  const pattern = statusChangePattern({ stateMachineArns: arns.filter((arn) => !Token.isUnresolved(arn)) })
  const { detail } = pattern
  const all = [...detail.stateMachineArn, ...arns.filter((arn) => Token.isUnresolved(arn))]
  return { ...pattern, detail: { ...detail, stateMachineArn: [...new Set(all)] } }
}

function secretNames(stack: Stack, secrets: Readonly<Record<string, ReadableSecret>>): string {
  return stack.toJsonString(
    Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.secretArn])),
  )
}

/** Puts a file or a folder beside the bundle. */
function copying([from, to]: readonly [string, string]) {
  return {
    beforeBundling: () => [],
    beforeInstall: () => [],
    afterBundling: (_input: string, output: string) => [
      `mkdir -p "${dirname(`${output}/${to}`)}"`,
      `cp -R "${from}" "${output}/${to}"`,
    ],
  }
}

/** The configuration as JSON, so that no cold start loads a YAML parser. */
function compiled(file: string): readonly [string, string] {
  const json = join(mkdtempSync(join(tmpdir(), 'runbridge-')), 'runbridge.json')
  writeFileSync(json, JSON.stringify(compileConfig(readFileSync(file, 'utf8'))))
  return [json, 'runbridge.json']
}

/** The YAML parser, for the text of a parameter. */
function yaml(): readonly [string, string] {
  const entry = createRequire(`${ROOT}packages/cli/package.json`).resolve('yaml/package.json')
  return [dirname(entry), 'node_modules/yaml']
}

/** What cdk-nag (AwsSolutions) finds and what is right as it is; each wildcard by itself, so that it hides no other. */
function acknowledge({ fn, deadLetters }: RunbridgeServer, role: Role, allowed: readonly PolicyStatement[]) {
  // A key can't be a token: for a state machine of the same app, whoever runs cdk-nag acknowledges it there.
  const wildcards = allowed
    .flatMap(({ resources }) => resources)
    .filter((resource) => resource.endsWith('*') && !Token.isUnresolved(resource))
  Validations.of(role).acknowledge(
    ...[...new Set(wildcards)].map((resource) => ({
      id: `AwsSolutions::AwsSolutions-IAM5[Resource::${resource}]`,
      reason:
        'Executions and Map runs have names that nobody knows before they start; the wildcard stands behind one state machine.',
    })),
  )
  Validations.of(fn).acknowledge({
    id: 'AwsSolutions::AwsSolutions-L1',
    reason: 'Node.js 22 is the newest release that Runbridge is tested on.',
  })
  Validations.of(deadLetters).acknowledge({
    id: 'AwsSolutions::AwsSolutions-SQS3',
    reason: 'It is the dead-letter queue itself, of the rules and of the function.',
  })
}
