import type { EmulatorState } from '../state.js'

/** The JSON body of a request. Nothing in it is checked yet. */
export type Request = Record<string, unknown>

/** One API action: the answer's JSON, or an `apiError` thrown. */
export type Operation = (state: EmulatorState, request: Request) => object | Promise<object>

/** Times on the wire are epoch seconds. */
export const seconds = (milliseconds: number) => milliseconds / 1000
