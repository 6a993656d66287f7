import { checkedArn, qualified } from '../arns.js'
import { apiError, executionDoesNotExist, stateMachineDoesNotExist } from '../errors.js'
import { checkName, pageSize } from '../limits.js'
import { page } from '../page-token.js'
import * as machines from '../state-machines.js'
import { type Operation, seconds } from './operation.js'

const settings = {
  loggingConfiguration: { level: 'OFF', includeExecutionData: false },
  tracingConfiguration: { enabled: false },
}

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_CreateStateMachine.html */
export const createStateMachine: Operation = (state, request) => {
  const machine = machines.createStateMachine(state, {
    name: String(request.name ?? ''),
    type: request.type === 'EXPRESS' ? 'EXPRESS' : 'STANDARD',
    definition: String(request.definition ?? ''),
    roleArn: String(request.roleArn ?? ''),
  })
  const description = request.versionDescription
  if (description !== undefined && request.publish !== true) {
    throw apiError('ValidationException', 'Version description can only be set when publish is true')
  }
  const version =
    request.publish === true ? machines.publishVersion(state, machine, text(description)) : undefined
  return {
    stateMachineArn: machine.arn,
    creationDate: seconds(machine.createdAt),
    ...(version && { stateMachineVersionArn: `${machine.arn}:${version.version}` }),
  }
}

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_UpdateStateMachine.html */
export const updateStateMachine: Operation = (state, request) => {
  const machine = machines.machineOf(state, checkedArn(request.stateMachineArn))
  if (request.definition !== undefined) machines.redefine(state, machine, String(request.definition))
  const description = text(request.versionDescription)
  const version = request.publish === true ? machines.publishVersion(state, machine, description) : undefined
  return {
    updateDate: seconds(state.now()),
    ...(version && { stateMachineVersionArn: `${machine.arn}:${version.version}` }),
  }
}

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_DescribeStateMachine.html */
export const describeStateMachine: Operation = (state, request) => {
  const arn = checkedArn(request.stateMachineArn)
  const { machine, revision } = machines.startTarget(state, arn)
  return {
    stateMachineArn: revision.version === undefined ? machine.arn : `${machine.arn}:${revision.version}`,
    name: machine.name,
    status: 'ACTIVE',
    definition: request.includedData === 'METADATA_ONLY' ? undefined : revision.definition,
    roleArn: machine.roleArn,
    type: machine.type,
    creationDate: seconds(revision.createdAt),
    description: revision.description,
    ...settings,
  }
}

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_DescribeStateMachineForExecution.html */
export const describeStateMachineForExecution: Operation = (state, request) => {
  const arn = checkedArn(request.executionArn)
  const execution = state.executions.get(arn)
  if (!execution) throw executionDoesNotExist(arn)
  const { machine, revision } = execution.target
  return {
    stateMachineArn: machine.arn,
    name: machine.name,
    definition: revision.definition,
    roleArn: machine.roleArn,
    updateDate: seconds(revision.createdAt),
    ...settings,
  }
}

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_ListStateMachines.html */
export const listStateMachines: Operation = (state, request) => {
  const byName = [...state.stateMachines.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  const { items, nextToken } = page(
    'stateMachines',
    byName,
    pageSize(request.maxResults, 100),
    request.nextToken,
  )
  const stateMachines = items.map(({ arn, name, type, createdAt }) => ({
    stateMachineArn: arn,
    name,
    type,
    creationDate: seconds(createdAt),
  }))
  return { stateMachines, nextToken }
}

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_PublishStateMachineVersion.html */
export const publishStateMachineVersion: Operation = (state, request) => {
  const machine = machines.machineOf(state, checkedArn(request.stateMachineArn))
  const { version, createdAt } = machines.publishVersion(state, machine, text(request.description))
  return { stateMachineVersionArn: `${machine.arn}:${version}`, creationDate: seconds(createdAt) }
}

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_ListStateMachineVersions.html */
export const listStateMachineVersions: Operation = (state, request) => {
  const machine = machines.machineOf(state, checkedArn(request.stateMachineArn))
  const newestFirst = machine.versions.toReversed()
  const size = pageSize(request.maxResults, 100)
  const { items, nextToken } = page(`${machine.arn} versions`, newestFirst, size, request.nextToken)
  const stateMachineVersions = items.map(({ version, createdAt }) => ({
    stateMachineVersionArn: `${machine.arn}:${version}`,
    creationDate: seconds(createdAt),
  }))
  return { stateMachineVersions, nextToken }
}

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_CreateStateMachineAlias.html */
export const createStateMachineAlias: Operation = (state, request) => {
  checkName(request.name)
  const routes = (request.routingConfiguration ?? []) as machines.Alias['routes']
  const weights = routes.map(({ weight }) => weight)
  if (weights.reduce((sum, weight) => sum + weight, 0) !== 100) {
    throw apiError(
      'ValidationException',
      `Sum of routing configuration weights must equal 100. Received: [${weights.join(', ')}]`,
    )
  }
  const machine = machines.machineOf(state, checkedArn(routes[0]?.stateMachineVersionArn))
  const published = machine.versions.map(({ version }) => `${machine.arn}:${version}`)
  const unknown = routes.find(({ stateMachineVersionArn }) => !published.includes(stateMachineVersionArn))
  if (unknown) throw stateMachineDoesNotExist(unknown.stateMachineVersionArn)
  const existing = machine.aliases.find(({ name }) => name === request.name)
  if (existing) {
    if (JSON.stringify(existing.routes) !== JSON.stringify(routes)) throw aliasConflict()
    return { stateMachineAliasArn: existing.arn, creationDate: seconds(existing.createdAt) }
  }
  const arn = `${machine.arn}:${request.name}`
  const createdAt = state.now()
  machine.aliases.push({ name: request.name, arn, description: text(request.description), routes, createdAt })
  return { stateMachineAliasArn: arn, creationDate: seconds(createdAt) }
}

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_DescribeStateMachineAlias.html */
export const describeStateMachineAlias: Operation = (state, request) => {
  const arn = checkedArn(request.stateMachineAliasArn)
  const alias = state.stateMachines
    .get(qualified(arn).base)
    ?.aliases.find((candidate) => candidate.arn === arn)
  if (!alias) throw apiError('ResourceNotFound', 'Request references a resource that does not exist.')
  return {
    stateMachineAliasArn: arn,
    name: alias.name,
    description: alias.description,
    routingConfiguration: alias.routes,
    creationDate: seconds(alias.createdAt),
    updateDate: seconds(alias.createdAt),
  }
}

/** https://docs.aws.amazon.com/step-functions/latest/apireference/API_ListStateMachineAliases.html */
export const listStateMachineAliases: Operation = (state, request) => {
  const machine = machines.machineOf(state, checkedArn(request.stateMachineArn))
  const size = pageSize(request.maxResults, 100)
  const { items, nextToken } = page(`${machine.arn} aliases`, machine.aliases, size, request.nextToken)
  const stateMachineAliases = items.map(({ arn, createdAt }) => ({
    stateMachineAliasArn: arn,
    creationDate: seconds(createdAt),
  }))
  return { stateMachineAliases, nextToken }
}

/** Nothing here has tags. https://docs.aws.amazon.com/step-functions/latest/apireference/API_ListTagsForResource.html */
export const listTagsForResource: Operation = (state, request) => {
  machines.machineOf(state, checkedArn(request.resourceArn))
  return { tags: [] }
}

function aliasConflict() {
  const reason = 'an alias with the same name and a different routing configuration already exists.'
  return apiError('ConflictException', `Failed to create alias because ${reason}`)
}

const text = (value: unknown) => (value === undefined || value === null ? undefined : String(value))
