import { type Clock, createPace } from '@runbridge/core'
import { mapRunQuota } from './quotas.js'

/** When the counts of Map Runs may be read: one bound for an account and region, whatever the state machine. */
export interface MapRunBudget {
  /** Whether there is room for one more read now; takes it if so. */
  admit(stateMachineArn: string): boolean
  /** The read came to nothing, throttled or not allowed: the next ones come at longer intervals for a while. */
  failed(stateMachineArn: string): void
}

export function mapRunBudget(clock: Pick<Clock, 'now'>, readsPerSecond: number | undefined): MapRunBudget {
  const pace = createPace()
  return {
    admit: (arn) => pace.admit(mapRunQuota(arn, readsPerSecond), clock.now()),
    failed: (arn) => pace.throttled(mapRunQuota(arn, readsPerSecond), clock.now()),
  }
}
