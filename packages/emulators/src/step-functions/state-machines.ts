import { qualified, stateMachineArn } from './arns.js'
import type { AslDefinition } from './asl.js'
import { apiError, invalidDefinition, stateMachineDoesNotExist } from './errors.js'
import { schemaComplaint } from './interpreter.js'
import { type Level, level } from './level.js'
import { checkName } from './limits.js'
import type { EmulatorState } from './state.js'
import { findTask } from './tasks.js'
import { refusals } from './unsupported.js'

export type StateMachineType = 'STANDARD' | 'EXPRESS'

/** A definition that executions can run: the machine's newest, or a published version. */
export interface Revision {
  definition: string
  asl: AslDefinition
  level: Level
  /** The number of the version, undefined for the machine itself until it is published. */
  version: number | undefined
  description: string | undefined
  createdAt: number
}

export interface Alias {
  name: string
  arn: string
  description: string | undefined
  routes: { stateMachineVersionArn: string; weight: number }[]
  createdAt: number
}

export interface StateMachineRecord {
  name: string
  arn: string
  type: StateMachineType
  roleArn: string
  current: Revision
  versions: Revision[]
  aliases: Alias[]
  createdAt: number
}

/** What an execution is started from, with the version and alias that its description names. */
export interface StartTarget {
  machine: StateMachineRecord
  revision: Revision
  versionArn: string | undefined
  aliasArn: string | undefined
}

/** Reads and checks a definition; throws InvalidDefinition naming everything that can't be run here. */
function revision(state: EmulatorState, definition: string, express: boolean): Revision {
  let asl: AslDefinition
  try {
    asl = JSON.parse(definition) as AslDefinition
  } catch (error) {
    throw invalidDefinition(`INVALID_JSON_DESCRIPTION: ${(error as Error).message}`)
  }
  const { tasks, defaultTask } = state.options
  const refused = refusals(asl, {
    express,
    hasTask: (name, task) => Boolean(defaultTask ?? findTask(tasks, name, task)),
  })
  if (refused.length > 0) throw invalidDefinition(`NOT_EMULATED: ${refused.join('; ')}`)
  const complaint = schemaComplaint(asl)
  if (complaint) throw invalidDefinition(complaint)
  return {
    definition,
    asl,
    level: level(asl),
    version: undefined,
    description: undefined,
    createdAt: state.now(),
  }
}

export interface NewStateMachine {
  name: string
  type: StateMachineType
  definition: string
  roleArn: string
}

/** The same again is the same machine; another definition under the name is StateMachineAlreadyExists. */
export function createStateMachine(state: EmulatorState, wanted: NewStateMachine): StateMachineRecord {
  checkName(wanted.name)
  const arn = stateMachineArn(state.place, wanted.name)
  const existing = state.stateMachines.get(arn)
  if (existing) {
    const same = existing.current.definition === wanted.definition && existing.type === wanted.type
    if (same) return existing
    throw apiError('StateMachineAlreadyExists', `State Machine Already Exists: '${arn}'`)
  }
  const current = revision(state, wanted.definition, wanted.type === 'EXPRESS')
  const { name, type, roleArn } = wanted
  const machine = {
    name,
    arn,
    type,
    roleArn,
    current,
    versions: [],
    aliases: [],
    createdAt: current.createdAt,
  }
  state.stateMachines.set(arn, machine)
  return machine
}

/** New executions run the new definition; those that run, and published versions, keep theirs. */
export function redefine(state: EmulatorState, machine: StateMachineRecord, definition: string): void {
  machine.current = revision(state, definition, machine.type === 'EXPRESS')
}

/** A version of the current definition; publishing it twice gives the same version. */
export function publishVersion(
  state: EmulatorState,
  machine: StateMachineRecord,
  description?: string,
): Revision {
  const newest = machine.versions.at(-1)
  if (newest && newest.definition === machine.current.definition) return newest
  const published = {
    ...machine.current,
    version: (newest?.version ?? 0) + 1,
    description,
    createdAt: state.now(),
  }
  machine.versions.push(published)
  return published
}

export function machineOf(state: EmulatorState, arn: string): StateMachineRecord {
  const machine = state.stateMachines.get(qualified(arn).base)
  if (!machine) throw stateMachineDoesNotExist(arn)
  return machine
}

/** The machine, version or alias that an ARN names. An alias with several routes picks by weight. */
export function startTarget(state: EmulatorState, arn: string): StartTarget {
  const machine = machineOf(state, arn)
  const { qualifier } = qualified(arn)
  if (qualifier === undefined)
    return { machine, revision: machine.current, versionArn: undefined, aliasArn: undefined }
  const alias = machine.aliases.find(({ name }) => name === qualifier)
  const versionArn = alias ? routed(alias, state.random()) : arn
  const found = machine.versions.find(({ version }) => `${machine.arn}:${version}` === versionArn)
  if (!found) throw stateMachineDoesNotExist(arn)
  return { machine, revision: found, versionArn, aliasArn: alias?.arn }
}

function routed(alias: Alias, random: number): string | undefined {
  let left = random * 100
  for (const { stateMachineVersionArn, weight } of alias.routes) {
    left -= weight
    if (left < 0) return stateMachineVersionArn
  }
  return alias.routes.at(-1)?.stateMachineVersionArn
}
