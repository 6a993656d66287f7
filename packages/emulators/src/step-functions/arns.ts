import { invalidArn } from './errors.js'

export interface Place {
  region: string
  accountId: string
}

export const stateMachineArn = ({ region, accountId }: Place, name: string) =>
  `arn:aws:states:${region}:${accountId}:stateMachine:${name}`

export const executionArn = ({ region, accountId }: Place, machine: string, name: string) =>
  `arn:aws:states:${region}:${accountId}:execution:${machine}:${name}`

export const expressArn = ({ region, accountId }: Place, machine: string, name: string, id: string) =>
  `arn:aws:states:${region}:${accountId}:express:${machine}:${name}:${id}`

export const roleArn = ({ accountId }: Place) => `arn:aws:iam::${accountId}:role/state-machine`

/** The ARN as text, or `InvalidArn` as AWS answers it. */
export function checkedArn(value: unknown): string {
  const arn = String(value ?? '')
  if (!arn.startsWith('arn:')) throw invalidArn(`Invalid ARN prefix: ${arn}`)
  if (arn.split(':').length < 6) throw invalidArn(`Invalid ARN: ${arn}`)
  return arn
}

/** Splits the qualifier (a version number or an alias) off a state machine's ARN. */
export function qualified(arn: string): { base: string; qualifier: string | undefined } {
  const parts = arn.split(':')
  return { base: parts.slice(0, 7).join(':'), qualifier: parts[7] }
}
