import type { JsonSchema, Workflow } from '@runbridge/core'

/**
 * What is asked at a state that waits for a task token. A field is named by its path in the task's parameters
 * (`MessageBody.question`; a field that holds JSON as text can be looked into). Fixed words go before fields.
 */
export interface GateConfig {
  /** The question as a person reads it. */
  readonly prompt?: string | undefined
  /**
   * JSON Schema of the answer: a flat object of primitive properties. Default: no properties, so that accepting
   * or declining is the answer.
   */
  readonly schema?: JsonSchema | undefined
  /** The field that holds the question. */
  readonly promptField?: string | undefined
  /** The field that holds the schema of the answer, as an object or as JSON text. */
  readonly schemaField?: string | undefined
  /** The field that holds the task token. Only needed where more than one field looks like one. */
  readonly tokenField?: string | undefined
}

/** A state machine as a tool binds it. */
export interface StepFunctionsWorkflow extends Workflow {
  /** The state machine's ARN; with `:VERSION` or `:ALIAS` behind it that one is started. */
  readonly id: string
  /**
   * By state name. A state that waits for a token and is not named here asks a plain question; `false`: the
   * token of this state is not for people.
   */
  readonly gates?: Readonly<Record<string, GateConfig | false>> | undefined
}
