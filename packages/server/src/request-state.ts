import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server'
import { type Clock, type JsonObject, RunbridgeError } from '@runbridge/core'
import type { Limits } from './limits.js'
import { ownerOf } from './owner.js'

interface Bound {
  readonly tool: string
  /** Digest of the arguments of the call that was answered with the question. */
  readonly call: string
  readonly taskId: string
  /** ms since the epoch. */
  readonly expiresAt: number
}

/**
 * What a question carries to the retry that answers it (2026-07-28 basic/patterns/mrtr). It is signed, not
 * encrypted: the client can read it and can't change it or move it to another owner, tool or call.
 */
export type CallState =
  /** Asked before anything started. A replay finds the same task, since its id and run key are fixed here. */
  | (Bound & {
      readonly kind: 'start'
      readonly runKey: string
      /** The keys put to the person by this state; no other answer counts. */
      readonly asked: readonly string[]
      /** Arguments gathered in earlier rounds. */
      readonly filled: JsonObject
    })
  /** Asked on behalf of a run that goes on: the retry attaches to it. */
  | (Bound & { readonly kind: 'run' })

export interface RequestStates {
  seal(state: CallState, ctx: ServerContext): Promise<string>
  /** Throws `invalid_input` for anything that was not sealed here for this owner and this call. */
  open(
    raw: unknown,
    call: { readonly tool: string; readonly call: string },
    ctx: ServerContext,
  ): Promise<CallState>
}

/** How far the systems' clocks may be apart: the codec goes by them, `expiresAt` by the one that processes share. */
const CLOCKS_APART_S = 86_400

/** @param key at least 32 bytes, the same in every process behind one address */
export function requestStates(key: Uint8Array, clock: Clock, limits: Limits): RequestStates {
  const codec = createRequestStateCodec<CallState>({
    key,
    ttlSeconds: Math.ceil(limits.questionMs / 1000) + CLOCKS_APART_S,
    bind: (ctx) => JSON.stringify([ctx.mcpReq.method, ownerOf(ctx.http?.authInfo)]),
  })
  return {
    seal: (state, ctx) => codec.mint(state, ctx),
    async open(raw, { tool, call }, ctx) {
      const state = typeof raw === 'string' ? await codec.verify(raw, ctx).catch(() => undefined) : undefined
      if (state?.tool !== tool || state.call !== call || state.expiresAt <= clock.now()) {
        throw new RunbridgeError(
          'invalid_input',
          'Invalid or expired requestState: it belongs to another call or caller, or its time is over. Call the tool anew without it.',
        )
      }
      return state
    },
  }
}
