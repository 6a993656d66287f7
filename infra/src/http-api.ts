import { Validations } from 'aws-cdk-lib'
import { AccessLogField, AccessLogFormat } from 'aws-cdk-lib/aws-apigateway'
import type { ThrottleSettings } from 'aws-cdk-lib/aws-apigatewayv2'
import {
  CfnIntegration,
  HttpApi,
  HttpMethod,
  HttpStage,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2'
import { HttpIamAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers'
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'

export interface HttpApiProps {
  readonly fn: IFunction
  readonly callers: 'tokens' | 'iam'
  readonly logRetention: RetentionDays
  /** Default 100 requests a second, in bursts of 200. */
  readonly throttle?: ThrottleSettings
}

const THROTTLE: ThrottleSettings = { rateLimit: 100, burstLimit: 200 }

/**
 * Where the handler puts the challenge of an answer a second time. API Gateway may rename `WWW-Authenticate`, and mappings
 * may write that name but not read the one it gives then, since `x-amzn-*` is reserved:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-parameter-mapping.html#http-api-mapping-reserved-headers
 */
export const CHALLENGE_HEADER = 'runbridge-challenge'

/** An HTTP API in front of the function: the stage `$default`, since of a named one clients find no metadata. */
export function httpApi(scope: Construct, id: string, props: HttpApiProps): HttpApi {
  const { fn, callers, logRetention, throttle = THROTTLE } = props
  const api = new HttpApi(scope, id, { createDefaultStage: false })
  const accessLog = new LogGroup(scope, `${id}Log`, { retention: logRetention })
  new HttpStage(scope, `${id}Stage`, {
    httpApi: api,
    stageName: '$default',
    autoDeploy: true,
    throttle,
    accessLogSettings: { destination: new LogGroupLogDestination(accessLog), format: LOG_FORMAT },
  })
  const integration = new HttpLambdaIntegration('Handler', fn)
  const authorized = callers === 'iam' ? { authorizer: new HttpIamAuthorizer() } : {}
  const anyOf = (path: string) =>
    api.addRoutes({ path, methods: [HttpMethod.ANY], integration, ...authorized })
  const routes = [...anyOf('/mcp'), ...(callers === 'tokens' ? anyOf('/.well-known/{proxy+}') : [])]
  if (callers === 'tokens') {
    for (const made of api.node.findAll()) if (made instanceof CfnIntegration) restoreChallenge(made)
    for (const route of routes)
      Validations.of(route).acknowledge({
        id: 'AwsSolutions::AwsSolutions-APIG4',
        reason: 'The handler verifies the token of each request, and the metadata of the resource is public.',
      })
  }
  return api
}

/** Of 401 alone, whose answers always have a challenge: what a mapping without a source does is not documented. */
function restoreChallenge(integration: CfnIntegration): void {
  integration.responseParameters = {
    '401': {
      ResponseParameters: [
        {
          Destination: 'overwrite:header.www-authenticate',
          Source: `$response.header.${CHALLENGE_HEADER}`,
        },
      ],
    },
  }
}

/** No header and no query of the client, which may hold what is secret. */
const LOG_FORMAT = AccessLogFormat.custom(
  JSON.stringify({
    requestId: AccessLogField.contextRequestId(),
    time: AccessLogField.contextRequestTime(),
    ip: AccessLogField.contextIdentitySourceIp(),
    route: AccessLogField.contextRouteKey(),
    status: AccessLogField.contextStatus(),
    latency: AccessLogField.contextResponseLatency(),
    integrationError: AccessLogField.contextIntegrationErrorMessage(),
  }),
)
