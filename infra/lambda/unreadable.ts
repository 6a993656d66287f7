export interface Unreadable {
  /** Such as `The SSM parameter /runbridge`. */
  readonly what: string
  /** How the service calls what is not there. */
  readonly missing: string
  readonly create: string
  /** The action that the function's role needs. */
  readonly action: string
}

/** What became of reading the configuration or a secret, and what to do: it is the last line of a function's log. */
export function unreadable({ what, missing, create, action }: Unreadable, thrown: unknown): Error {
  const { name, message } = thrown as Error
  const said = `AWS says: ${name}: ${message}`
  const text =
    name === missing
      ? `${what} is not there: ${create}. ${said}`
      : name === 'AccessDeniedException'
        ? `${what} may not be read: allow ${action} on it to the function’s role, and kms:Decrypt on a key of your own. ${said}`
        : `${what} could not be read. ${said}`
  return new Error(text, { cause: thrown })
}
