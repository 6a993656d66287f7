import type { ReadQuota } from '@runbridge/core'
import { parseStateMachineArn } from './arn.js'

/** A token bucket of AWS: how many calls at once, and how many a second after that. */
export interface ApiQuota {
  readonly bucket: number
  readonly perSecond: number
}

/** The actions that are called here and have a quota of their own. */
export const QUOTA_ACTIONS = [
  'StartExecution',
  'DescribeExecution',
  'GetExecutionHistory',
  'DescribeMapRun',
  'DescribeStateMachine',
  'ListStateMachines',
  'StopExecution',
  'SendTaskSuccess',
  'SendTaskFailure',
] as const
export type QuotaAction = (typeof QUOTA_ACTIONS)[number]

/** US East (N. Virginia), US West (Oregon), Europe (Ireland). */
const LARGE_REGIONS: ReadonlySet<string> = new Set(['us-east-1', 'us-west-2', 'eu-west-1'])

/**
 * Per account and region, as AWS documents them; they can be raised on request.
 * https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
 */
export const QUOTAS: Readonly<Record<'large' | 'other', Readonly<Record<QuotaAction, ApiQuota>>>> = {
  large: {
    StartExecution: { bucket: 1300, perSecond: 300 },
    DescribeExecution: { bucket: 300, perSecond: 15 },
    GetExecutionHistory: { bucket: 400, perSecond: 20 },
    DescribeMapRun: { bucket: 200, perSecond: 1 },
    DescribeStateMachine: { bucket: 200, perSecond: 20 },
    ListStateMachines: { bucket: 100, perSecond: 5 },
    StopExecution: { bucket: 1000, perSecond: 200 },
    SendTaskSuccess: { bucket: 3000, perSecond: 500 },
    SendTaskFailure: { bucket: 3000, perSecond: 500 },
  },
  other: {
    StartExecution: { bucket: 800, perSecond: 150 },
    DescribeExecution: { bucket: 250, perSecond: 10 },
    GetExecutionHistory: { bucket: 400, perSecond: 20 },
    DescribeMapRun: { bucket: 200, perSecond: 1 },
    DescribeStateMachine: { bucket: 200, perSecond: 20 },
    ListStateMachines: { bucket: 100, perSecond: 5 },
    StopExecution: { bucket: 500, perSecond: 25 },
    SendTaskSuccess: { bucket: 1500, perSecond: 300 },
    SendTaskFailure: { bucket: 1500, perSecond: 300 },
  },
}

/** The part of a quota that looks may take: the rest is for whoever else works in the account. */
const READ_SHARE = 0.5

export function quotasIn(region: string): Readonly<Record<QuotaAction, ApiQuota>> {
  return QUOTAS[LARGE_REGIONS.has(region) ? 'large' : 'other']
}

/** Looks a second: each may need one DescribeExecution and one page of history. */
function readsPerSecondIn(region: string): number {
  const { DescribeExecution, GetExecutionHistory } = quotasIn(region)
  return READ_SHARE * Math.min(DescribeExecution.perSecond, GetExecutionHistory.perSecond)
}

/** What looks at executions of a state machine count against. */
export function readQuota(stateMachineArn: string, perSecond: number | undefined): ReadQuota {
  const { account, region } = parseStateMachineArn(stateMachineArn)
  return { name: `step-functions ${account} ${region}`, perSecond: perSecond ?? readsPerSecondIn(region) }
}

/**
 * What the counts of Map Runs are read under: the smallest quota of all, and one of its own.
 * @param readsPerSecond where it is less than the default, as for one of several processes, this is less by as much
 */
export function mapRunQuota(stateMachineArn: string, readsPerSecond: number | undefined): ReadQuota {
  const { account, region } = parseStateMachineArn(stateMachineArn)
  const reads = readsPerSecondIn(region)
  const share = READ_SHARE * Math.min(1, (readsPerSecond ?? reads) / reads)
  const perSecond = share * quotasIn(region).DescribeMapRun.perSecond
  return { name: `step-functions DescribeMapRun ${account} ${region}`, perSecond }
}
