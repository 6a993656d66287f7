import type { JsonObject, JsonSchema, Workflow } from '@runbridge/core'

/**
 * What is asked at a step that waits for a callback (`events.await_callback`). A variable is named by its path in the
 * variables that the step entries show, such as `callback_details.url`; that needs `historyLevel: 'detailed'`.
 */
export interface GateConfig {
  /**
   * The variable that holds the callback's URL. Default: the URL that its name gives, which Google does not document;
   * and of several callbacks that wait at once none is asked about, since only variables tell them apart.
   */
  readonly urlVariable?: string | undefined
  /** The question as a person reads it. */
  readonly prompt?: string | undefined
  /** The variable that holds the question, where `prompt` is absent. */
  readonly promptVariable?: string | undefined
  /**
   * JSON Schema of the answer: a flat object of primitive properties. Default: no properties, so that accepting
   * or declining is the answer.
   */
  readonly schema?: JsonSchema | undefined
  /** What is sent beside the answer when it was given. The answer's own members go first. Default: nothing. */
  readonly accept?: JsonObject | undefined
  /** What is sent when the answer was declined. Default: nothing is, and the execution is cancelled. */
  readonly decline?: JsonObject | undefined
  /** The variable that the step puts the request in, by which our own answer is told from another one. */
  readonly result?: string | undefined
}

/** Google's CallLogLevel without its prefixes. */
export const CALL_LOG_LEVELS = {
  all: 'LOG_ALL_CALLS',
  errors: 'LOG_ERRORS_ONLY',
  none: 'LOG_NONE',
} as const
export type CallLogLevel = keyof typeof CALL_LOG_LEVELS

/** Google's ExecutionHistoryLevel without its prefix. */
export const HISTORY_LEVELS = {
  basic: 'EXECUTION_HISTORY_BASIC',
  detailed: 'EXECUTION_HISTORY_DETAILED',
} as const
export type HistoryLevel = keyof typeof HISTORY_LEVELS

/** A workflow as a tool binds it. */
export interface GoogleWorkflow extends Workflow {
  /** `projects/PROJECT/locations/LOCATION/workflows/WORKFLOW` */
  readonly id: string
  /** Refuses to start while another revision is deployed: executions always run the deployed one. */
  readonly revision?: string | undefined
  /** Put on every execution beside the run key; they go before the workflow's own. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** Default: the workflow's own. */
  readonly callLogLevel?: CallLogLevel | undefined
  /** The level of the executions, whose step entries are read then. Default: the workflow's own, none are read. */
  readonly historyLevel?: HistoryLevel | undefined
  /** By the name of the step that waits, as `step` or `routine.step`. Other callbacks are not for people. */
  readonly gates?: Readonly<Record<string, GateConfig>> | undefined
}
