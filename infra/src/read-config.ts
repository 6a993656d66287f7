import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseConfig } from 'runbridge'
import type { WorkflowAccess } from './workflow-access.js'

export interface ReadConfig {
  readonly stateMachines: readonly WorkflowAccess[]
  readonly store: 'dynamodb' | 'sealed'
  /** The roles that the function itself assumes. */
  readonly assumeRoles: readonly string[]
}

/**
 * What a configuration file needs of AWS: its state machines, each with what its tools do with it, its store, and the
 * roles that it assumes: those of owners are assumed with `roleArn` where there is one.
 * `taskSupport: forbidden` marks an Express state machine, which nothing else in the file tells.
 * @param variables the names beside the construct's own; their values are not known here
 */
export function readConfig(file: string, variables: readonly string[]): ReadConfig {
  const unknown = Object.fromEntries(variables.map((name) => [name, standIn(name)]))
  const result = parseConfig(readFileSync(file, 'utf8'), { ...OF_THE_CONSTRUCT, ...unknown })
  if (!result.ok) {
    const problems = result.problems.map(
      ({ line, path, message }) => `${file}:${line} ${path ?? ''} ${message}`,
    )
    throw new Error(problems.join('\n'))
  }
  const { store, tools, engines } = result.config
  const { roleArn, roles = {} } = engines.stepFunctions
  const assumeRoles = roleArn === undefined ? [...new Set(Object.values(roles))] : [roleArn]
  if (!store.dynamodb && !store.sealed)
    throw new Error(`${file}: on Lambda the store is \`dynamodb\` or \`sealed\`.`)
  const machines = new Map<string, WorkflowAccess>()
  for (const { name, stepFunctions, attach, cancelAttached = false, ...tool } of tools) {
    if (!stepFunctions) throw new Error(`${file}: tool ${name} is of another engine than Step Functions.`)
    const { stateMachineArn } = stepFunctions
    const present = machines.get(stateMachineArn)
    machines.set(stateMachineArn, {
      stateMachineArn,
      express: tool.taskSupport === 'forbidden',
      starts: !attach || present?.starts === true,
      stops: !attach || cancelAttached || present?.stops === true,
      gates: tool.humanInput !== 'off' || present?.gates === true,
      progress: tool.progress || present?.progress === true,
      ...(assumeRoles.length > 0 && { byRoles: true }),
    })
  }
  return { stateMachines: [...machines.values()], store: store.sealed ? 'sealed' : 'dynamodb', assumeRoles }
}

/** What may stand for any secret, each another one: the hash of a token, a key in base64. */
const standIn = (name: string) => createHash('sha256').update(name).digest('hex')

/** Known when it is deployed. */
const OF_THE_CONSTRUCT = {
  RUNBRIDGE_ADDRESS: 'https://address.invalid',
  RUNBRIDGE_TABLE: 'table',
  AWS_REGION: 'us-east-1',
}
