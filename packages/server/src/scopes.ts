import type { Caller } from './caller.js'
import type { Tool } from './tool.js'

/**
 * The scopes that calls of this tool need, all of them, if the caller lacks one. Whoever lacks one neither starts
 * the tool's runs nor answers their questions; looking at tasks and stopping them is for their owner.
 */
export function lackedScopes(
  tool: Pick<Tool, 'scopes'>,
  { scopes: granted }: Pick<Caller, 'scopes'>,
): readonly string[] | undefined {
  const { scopes = [] } = tool
  return granted === undefined || scopes.every((scope) => granted.includes(scope)) ? undefined : scopes
}

/** For where no challenge can be sent any more, and for the model to read. */
export function lacksScopes(tool: Pick<Tool, 'name'>, scopes: readonly string[]): string {
  return `${tool.name} needs a token with the scope ${scopes.join(' and ')}, which this caller's has not.`
}
