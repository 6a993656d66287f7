import { Duration } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, type Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'

export interface AlarmsProps {
  readonly fn: IFunction
  readonly deadLetters: IQueue
  readonly logGroup: ILogGroup
  /** Told of every alarm. Default: nobody; the alarms show in CloudWatch. */
  readonly topic?: ITopic
}

/** What the task service logs when a run can't be read: its task shows `working` until someone repairs the reason. */
export const UNREADABLE = 'a run could not be read'

const PERIOD = Duration.minutes(5)

export function alarms(scope: Construct, { fn, deadLetters, logGroup, topic }: AlarmsProps): void {
  const unreadable = new MetricFilter(scope, 'UnreadableRuns', {
    logGroup,
    filterPattern: FilterPattern.stringValue('$.msg', '=', UNREADABLE),
    metricNamespace: 'Runbridge',
    metricName: `${scope.node.addr}-unreadable`,
    metricValue: '1',
  })
  const alarm = (id: string, metric: Metric, threshold: number, alarmDescription: string) => {
    const made = new Alarm(scope, id, {
      metric,
      threshold,
      alarmDescription,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    })
    if (topic) made.addAlarmAction(new SnsAction(topic))
  }
  const statistic = { period: PERIOD, statistic: 'Sum' }
  alarm('ErrorsAlarm', fn.metricErrors(statistic), 1, 'An invocation failed: its log says why.')
  alarm(
    'ThrottlesAlarm',
    fn.metricThrottles(statistic),
    1,
    'Requests were turned away: raise the concurrency of the function or of the account.',
  )
  alarm(
    'DeadLettersAlarm',
    deadLetters.metricApproximateNumberOfMessagesVisible({ period: PERIOD, statistic: 'Maximum' }),
    1,
    'A status change or a sweep was given up. Tasks come up to date when they are polled; look at the queue for the reason.',
  )
  alarm(
    'UnreadableAlarm',
    unreadable.metric(statistic),
    10,
    'Runs can not be read: permissions, throttling or an outage. Their tasks show working until they can be.',
  )
}
