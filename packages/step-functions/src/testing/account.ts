import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { EXECUTION, MACHINE } from './scripted-clients.js'

/** The trust policy of a role: the external id that it asks for. */
export interface TrustingRole {
  readonly externalId: string
}

/** What arrived: who signed it, by the access key, and what it was. */
interface Arrival {
  readonly who: string
  readonly what: string
}

const IN_AN_HOUR_MS = 3_600_000

/**
 * STS and Step Functions of one account on loopback. AssumeRole goes by trust policies, as
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html describes it, and gives credentials whose
 * access key is the name of the role; Step Functions tells who came with which key.
 */
export async function startAccount(roles: Record<string, TrustingRole>) {
  const arrivals: Arrival[] = []
  const sessions: URLSearchParams[] = []
  let down = false
  let lifetimeMs = IN_AN_HOUR_MS

  function assume(body: URLSearchParams): { status: number; body: string } {
    const roleArn = body.get('RoleArn') ?? ''
    const name = roleArn.replace(/^.*role\//, '')
    sessions.push(body)
    if (down) return { status: 503, body: '' }
    if (roles[name]?.externalId !== body.get('ExternalId')) {
      const message = `User: arn:aws:iam::123456789012:user/OWN is not authorized to perform: sts:AssumeRole on resource: ${roleArn}`
      const error = `<Error><Type>Sender</Type><Code>AccessDenied</Code><Message>${message}</Message></Error>`
      return { status: 403, body: `<ErrorResponse>${error}</ErrorResponse>` }
    }
    const expiration = new Date(Date.now() + lifetimeMs).toISOString()
    const credentials = `<AccessKeyId>${name}</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>${expiration}</Expiration>`
    const result = `<AssumeRoleResult><Credentials>${credentials}</Credentials></AssumeRoleResult>`
    return { status: 200, body: `<AssumeRoleResponse>${result}</AssumeRoleResponse>` }
  }

  const answers: Readonly<Record<string, object>> = {
    StartExecution: { executionArn: EXECUTION, startDate: 1_700_000_000 },
    DescribeExecution: {
      executionArn: EXECUTION,
      stateMachineArn: MACHINE,
      status: 'RUNNING',
      startDate: 1_700_000_000,
    },
    DescribeStateMachine: { stateMachineArn: MACHINE, name: 'deploy', type: 'STANDARD', definition: '{}' },
    StopExecution: { stopDate: 1_700_000_000 },
  }

  const server = createServer(async (request, response) => {
    const who = /Credential=([\w-]+)/.exec(request.headers.authorization ?? '')?.[1] ?? 'nobody'
    const body = await text(request)
    if (body.includes('Action=AssumeRole')) {
      arrivals.push({ who, what: 'AssumeRole' })
      const answer = assume(new URLSearchParams(body))
      return void response.writeHead(answer.status).end(answer.body)
    }
    const action = String(request.headers['x-amz-target']).replace('AWSStepFunctions.', '')
    arrivals.push({ who, what: action })
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' })
    response.end(JSON.stringify(answers[action] ?? {}))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals,
    /** The requests for roles. */
    sessions,
    /** STS answers 503 from now on, or no more. */
    set down(value: boolean) {
      down = value
    },
    /** How long credentials are valid that are given from now on, in ms. */
    set lifetimeMs(value: number) {
      lifetimeMs = value
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
