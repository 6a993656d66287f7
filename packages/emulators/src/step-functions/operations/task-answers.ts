import type { Json } from '../asl.js'
import { apiError } from '../errors.js'
import { checkLength, maxCauseLength, maxDataBytes, maxErrorLength, tooLarge } from '../limits.js'
import type { Operation } from './operation.js'

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_SendTaskSuccess.html */
export const sendTaskSuccess: Operation = (state, { taskToken, output }) => {
  const text = checkLength('output', output, maxDataBytes) ?? ''
  if (tooLarge(text)) throw invalidOutput(`more than ${maxDataBytes} bytes`)
  let parsed: Json
  try {
    parsed = JSON.parse(text) as Json
  } catch (error) {
    throw invalidOutput((error as Error).message)
  }
  state.tokens.answer(taskToken, { kind: 'success', output: parsed })
  return {}
}

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_SendTaskFailure.html */
export const sendTaskFailure: Operation = (state, { taskToken, error, cause }) => {
  state.tokens.answer(taskToken, {
    kind: 'failure',
    error: checkLength('error', error, maxErrorLength),
    cause: checkLength('cause', cause, maxCauseLength),
  })
  return {}
}

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_SendTaskHeartbeat.html */
export const sendTaskHeartbeat: Operation = (state, { taskToken }) => {
  state.tokens.heartbeat(taskToken)
  return {}
}

const invalidOutput = (text: string) => apiError('InvalidOutput', `Invalid Output: '${text}'`)
