import type { Backend, Workflow } from './backend.js'
import { RunbridgeError, toRunbridgeError } from './errors.js'
import { createOpenOwners, type OpenBackend } from './open-owners.js'
import type { Owner } from './task.js'

export interface BackendByOwnerOptions<W extends Workflow = Workflow> {
  /** With the server's own credentials: it only says what workflows are and what they count against. */
  readonly own: Backend<W>
  /** Whether this owner has credentials. Asked before each call that is made for it. What it throws refuses the call. */
  readonly has: (owner: Owner) => boolean
  /** A backend of the same engine with the owner's credentials. What it throws refuses the call. */
  readonly open: (owner: Owner) => OpenBackend<W> | Promise<OpenBackend<W>>
  /** How many owners' backends stay open; the one that was not used for the longest is closed. At least 1. Default 100. */
  readonly maxOwners?: number | undefined
}

/**
 * A backend that makes the calls for each owner with credentials of that owner, and none with the server's in their
 * place. Without credentials nothing is sent: a start is `refused` as `denied`, a run is `unreadable`.
 */
export function backendByOwner<W extends Workflow>(
  options: BackendByOwnerOptions<W>,
): Backend<W> & { close(): Promise<void> } {
  const { own, has, open, maxOwners = 100 } = options
  if (!(maxOwners >= 1)) {
    throw new RunbridgeError(
      'misconfigured',
      '`maxOwners` must be at least 1: the owner of a call needs a backend.',
    )
  }
  const owners = createOpenOwners(open, maxOwners)

  async function leaseFor(owner: Owner) {
    if (has(owner)) return owners.lease(owner)
    owners.drop(owner)
    throw noCredentials(own, owner)
  }

  /** What `call` comes to with the owner's own backend, or what `refused` makes of the reason why there is none. */
  async function as<T>(
    owner: Owner,
    call: (backend: Backend<W>) => Promise<T>,
    refused: (error: RunbridgeError) => NoInfer<T>,
  ): Promise<T> {
    const lease = await leaseFor(owner).catch(toRunbridgeError)
    if (lease instanceof RunbridgeError) return refused(lease)
    try {
      return await call(lease.backend)
    } finally {
      lease.release()
    }
  }

  const refused = (error: RunbridgeError) => ({ kind: 'refused', error }) as const
  const unreadable = (error: RunbridgeError) => ({ kind: 'unreadable', error }) as const
  const failed = (error: RunbridgeError) => ({ kind: 'failed', error }) as const
  const thrown = (error: RunbridgeError): never => {
    throw error
  }
  const lacks = (method: string) => new RunbridgeError('unsupported', `${own.name} has no ${method}.`)

  return {
    name: own.name,
    visibilityMs: own.visibilityMs,
    ...(own.maxRunMs !== undefined && { maxRunMs: own.maxRunMs }),
    ...(own.references !== undefined && { references: own.references }),
    actsAsOwner: true,
    ...(own.readQuota && { readQuota: own.readQuota.bind(own) }),
    ...(own.discover && { discover: own.discover.bind(own) }),
    describe: (workflow, context) => own.describe(workflow, context),
    start: (workflow, runKey, input, context) =>
      as(context.owner, (backend) => backend.start(workflow, runKey, input, context), refused),
    find: (workflow, runKey, context) =>
      as(context.owner, (backend) => backend.find(workflow, runKey, context), unreadable),
    get: (workflow, run, context) =>
      as(context.owner, (backend) => backend.get(workflow, run, context), unreadable),
    cancel: (workflow, run, reason, context) =>
      as(context.owner, (backend) => backend.cancel(workflow, run, reason, context), failed),
    answer: (workflow, run, gate, response, context) =>
      as(context.owner, (backend) => backend.answer(workflow, run, gate, response, context), failed),
    ...(own.call && {
      call: (workflow, input, context) =>
        as(
          context.owner,
          async (backend) => (await backend.call?.(workflow, input, context)) ?? refused(lacks('call')),
          refused,
        ),
    }),
    ...(own.attach && {
      attach: (workflow, reference, context) =>
        as(
          context.owner,
          async (backend) =>
            (await backend.attach?.(workflow, reference, context)) ?? refused(lacks('attach')),
          refused,
        ),
    }),
    ...(own.log && {
      log: (workflow, run, range, context) =>
        as(
          context.owner,
          async (backend) => (await backend.log?.(workflow, run, range, context)) ?? thrown(lacks('log')),
          thrown,
        ),
    }),
    close: () => owners.close(),
  }
}

/** Told to that owner alone, and to the operator, who needs its name. */
function noCredentials({ name }: Pick<Backend, 'name'>, owner: Owner): RunbridgeError {
  return new RunbridgeError(
    'denied',
    `There are no credentials of this caller for ${name}, and the server's own are not used in their place. Whoever runs the server can add some for the owner ${owner}.`,
  )
}
