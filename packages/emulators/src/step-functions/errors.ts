/** An answer of the API that is not a success: its name, HTTP status and text as AWS words them. */
export interface ApiError {
  type: string
  message: string
  status: number
}

const marker = Symbol('api error')

export function apiError(type: string, message: string, status = 400): Error & ApiError {
  return Object.assign(new Error(message), { type, message, status, [marker]: true })
}

export function isApiError(error: unknown): error is Error & ApiError {
  return error instanceof Error && marker in error
}

/** Words as recorded from AWS where a recording has them. */
export const executionDoesNotExist = (arn: string) =>
  apiError('ExecutionDoesNotExist', `Execution Does Not Exist: '${arn}'`)
export const executionAlreadyExists = (arn: string) =>
  apiError('ExecutionAlreadyExists', `Execution Already Exists: '${arn}'`)
export const stateMachineDoesNotExist = (arn: string) =>
  apiError('StateMachineDoesNotExist', `State Machine Does Not Exist: '${arn}'`)
export const invalidArn = (text: string) => apiError('InvalidArn', `Invalid Arn: '${text}'`)
export const invalidName = (name: string) => apiError('InvalidName', `Invalid Name: '${name}'`)
export const invalidToken = () => apiError('InvalidToken', "Invalid Token: 'Invalid token'")
export const typeNotSupported = () =>
  apiError('StateMachineTypeNotSupported', 'This operation is not supported by this type of state machine')
export const invalidDefinition = (text: string) =>
  apiError('InvalidDefinition', `Invalid State Machine Definition: '${text}'`)
export const invalidInput = (text: string) =>
  apiError('InvalidExecutionInput', `Invalid State Machine Execution Input: '${text}'`)
export const validation = (field: string, value: unknown, constraint: string) =>
  apiError(
    'ValidationException',
    `1 validation error detected: Value '${value}' at '${field}' failed to satisfy constraint: Member must ${constraint}`,
  )
/** As IAM words it: https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html */
export const accessDenied = (account: string, operation: string, resource: string) =>
  apiError(
    'AccessDeniedException',
    `User: arn:aws:sts::${account}:assumed-role/caller/session is not authorized to perform: states:${operation} ` +
      `on resource: ${resource} because no identity-based policy allows the states:${operation} action`,
  )
