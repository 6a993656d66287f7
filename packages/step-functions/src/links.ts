import type { Place } from './arn.js'

/** https://docs.aws.amazon.com/general/latest/gr/aws-arns-and-namespaces.html names the partitions. */
const CONSOLES: Readonly<Record<string, (region: string) => string>> = {
  aws: (region) => `https://${region}.console.aws.amazon.com`,
  'aws-us-gov': () => 'https://console.amazonaws-us-gov.com',
  'aws-cn': () => 'https://console.amazonaws.cn',
}

function consoleUrl({ partition, region }: Place, path: string): string | undefined {
  const host = CONSOLES[partition]?.(region)
  // Names may have any letter; an address has ASCII.
  return host === undefined ? undefined : `${host}/states/home?region=${region}#${encodeURI(path)}`
}

/** Undefined for a partition whose console is not known. */
export function executionUrl(place: Place, arn: string): string | undefined {
  return consoleUrl(place, `/v2/executions/details/${arn}`)
}

export function stateMachineUrl(place: Place, arn: string): string | undefined {
  return consoleUrl(place, `/statemachines/view/${arn}`)
}
