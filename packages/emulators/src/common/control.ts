import * as z from 'zod'

/** The paths under which another process sets faults and reads what arrived. */
export const controlPrefix = '/_emulator/'

/** What every stand-in's script of faults takes from a control request. */
interface Script<Target, Fault> {
  next(operation: Target, ...faults: Fault[]): void
  always(operation: Target, fault: Fault): void
  clear(operation?: Target): void
  pending(): unknown
}

/** `operation` goes with `next`, `always` or both. */
interface FaultRequest<Target, Fault> {
  readonly operation?: Target | undefined
  readonly next?: Fault[] | undefined
  readonly always?: Fault | undefined
  readonly clear?: true | Target | undefined
}

/** Refuses a request whose `operation` has nothing to do, or that says what to do with none. */
export function goTogether({ operation, next, always }: FaultRequest<unknown, unknown>): boolean {
  return (operation === undefined) === (next === undefined && always === undefined)
}

/**
 * Answers `POST faults`: clears, then queues.
 * @param rest what this stand-in's requests can say beside that
 */
export function setFaults<Target, Fault, Request extends FaultRequest<Target, Fault>>(
  schema: z.ZodType<Request>,
  faults: Script<Target, Fault>,
  body: string,
  rest: (request: Request) => void = () => {},
): [number, unknown] {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch (error) {
    return [400, { message: `The body is not JSON: ${(error as Error).message}` }]
  }
  const parsed = schema.safeParse(json)
  if (!parsed.success) return [400, { message: z.prettifyError(parsed.error) }]
  const { operation, next = [], always, clear } = parsed.data
  if (clear !== undefined) faults.clear(clear === true ? undefined : clear)
  if (operation !== undefined) faults.next(operation, ...next)
  if (operation !== undefined && always !== undefined) faults.always(operation, always)
  rest(parsed.data)
  return [200, faults.pending()]
}

/** Answers what every stand-in can tell: the calls that arrived, and the faults that are pending. */
export function commonControl(
  { calls, faults }: { readonly calls: Calls; readonly faults: Pick<Script<never, never>, 'pending'> },
  method: string,
  path: string,
): [number, unknown] {
  switch (`${method} ${path.slice(controlPrefix.length)}`) {
    case 'DELETE calls':
      calls.reset()
      return [200, calls.report()]
    case 'GET calls':
      return [200, calls.report()]
    case 'GET faults':
      return [200, faults.pending()]
    default:
      return [404, { message: `No control route ${method} ${path}; see the package's README.` }]
  }
}

interface Calls {
  report(): unknown
  reset(): void
}
