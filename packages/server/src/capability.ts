import {
  type ClientCapabilities,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import { RunbridgeError } from '@runbridge/core'
import { EXTENSION_ID } from '@runbridge/core/wire/ext-tasks'
import type { Caller } from './caller.js'

type Needed = 'tasks' | 'elicitation'

const REQUIRED: Readonly<Record<Needed, ClientCapabilities>> = {
  tasks: { extensions: { [EXTENSION_ID]: {} } },
  elicitation: { elicitation: { form: {} } },
}

/**
 * The error for a request that can't be served without a capability that it does not declare. On the modern
 * era always -32021 (2026-07-28 basic, "Per-request protocol fields"); on 2025-11-25 a tool that requires tasks
 * is -32601 ("Tool-Level Negotiation"), and the rest is for the model to read.
 */
export function lacks(caller: Pick<Caller, 'era'>, needed: Needed, message: string): Error {
  if (caller.era === 'modern') {
    return new MissingRequiredClientCapabilityError({ requiredCapabilities: REQUIRED[needed] }, message)
  }
  return needed === 'tasks'
    ? new ProtocolError(ProtocolErrorCode.MethodNotFound, message)
    : new RunbridgeError('missing_capability', message)
}
