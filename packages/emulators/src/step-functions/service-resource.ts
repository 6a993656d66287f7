/** How a Task's Resource shows in the history: service integrations by type and action, functions by their ARN. */
export interface ServiceResource {
  arn: string
  kind: 'service' | 'lambda' | 'activity'
  /** `sqs`, `lambda`, `aws-sdk:dynamodb`. */
  resourceType: string
  /** `sendMessage.waitForTaskToken`, `invoke`. */
  resource: string
  /** The task waits for SendTaskSuccess or SendTaskFailure. */
  callback: boolean
  /** The task waits for the started job (`.sync`, `.sync:2`). */
  sync: boolean
}

/** Source: https://docs.aws.amazon.com/step-functions/latest/dg/connect-to-resource.html */
export function serviceResource(arn: string): ServiceResource {
  const callback = arn.endsWith('.waitForTaskToken')
  const sync = /\.sync(:2)?$/.test(arn)
  const service = /^arn:[^:]+:states:[^:]*:[^:]*:(?!activity:)(.+?):([^:]+(?::2)?)$/.exec(arn)
  if (service) {
    const [, resourceType = '', resource = ''] = service
    return { arn, kind: 'service', resourceType, resource, callback, sync }
  }
  const kind = /^arn:[^:]+:states:[^:]*:[^:]*:activity:/.test(arn) ? 'activity' : 'lambda'
  return { arn, kind, resourceType: kind, resource: arn, callback: false, sync: false }
}
