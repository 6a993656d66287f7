import { type ErrorCode, RunbridgeError } from '@runbridge/core'

type Meaning = readonly [ErrorCode, string]

const AGAIN = 'Nothing was written, or all of it: look again.'
const UNREACHABLE: Meaning = ['unavailable', `can’t be reached. ${AGAIN}`]
const CREDENTIALS: Meaning = [
  'misconfigured',
  'refuses this user or password. Check the user and the password in the URL of the store.',
]
const RIGHTS: Meaning = [
  'misconfigured',
  'does not let this user work with its tables. Grant the user USAGE on the schema of the store and SELECT, INSERT, UPDATE and DELETE on its tables; to create and update them it needs CREATE too.',
]
const DROPPED: Meaning = [
  'misconfigured',
  'has lost its tables: somebody dropped them. Restart the server to create them anew, or restore a backup.',
]
const TOO_LARGE: Meaning = ['too_large', 'does not take a record of this size.']
const CERTIFICATE: Meaning = [
  'misconfigured',
  'shows a certificate that this process does not trust. Name its authority with sslrootcert in the URL of the store.',
]

/** By SQLSTATE, whole or by its class (postgresql.org/docs/current/errcodes-appendix.html), and by errno name. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  '08': UNREACHABLE,
  '08P01': [
    'misconfigured',
    'does not speak as PostgreSQL does. Check host and port in the URL of the store, and the settings of a pooler between.',
  ],
  '25006': [
    'unavailable',
    'is read-only: a standby, or a failover under way. Nothing was written: try again.',
  ],
  '28': CREDENTIALS,
  '3D000': [
    'misconfigured',
    'does not exist: there is no database of this name. Create it, or name another.',
  ],
  '3F000': DROPPED,
  '40': ['unavailable', 'had too many changes of one record at once. Nothing was written: try again.'],
  '42501': RIGHTS,
  '42P01': DROPPED,
  '42703': DROPPED,
  '53': [
    'unavailable',
    'is out of connections, memory or disk. Nothing was written: try again, and look at the database’s log.',
  ],
  '54': TOO_LARGE,
  '55P03': ['unavailable', 'is locked by somebody else. Nothing was written: try again.'],
  '57': ['unavailable', `ended the connection or the statement. ${AGAIN}`],
  '58': ['unavailable', 'reports a fault of its disk. Look at the database’s log.'],
  XX: ['unavailable', 'reports a fault of its own. Look at the database’s log.'],
  ENOTFOUND: ['misconfigured', 'has a host name that is not known. Check the host in the URL of the store.'],
  DEPTH_ZERO_SELF_SIGNED_CERT: CERTIFICATE,
  SELF_SIGNED_CERT_IN_CHAIN: CERTIFICATE,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CERTIFICATE,
  ERR_TLS_CERT_ALTNAME_INVALID: CERTIFICATE,
  CERT_HAS_EXPIRED: CERTIFICATE,
}

/** What pg says itself, without a code. */
const SAYINGS: readonly (readonly [RegExp, Meaning])[] = [
  [/does not support SSL/, ['misconfigured', 'has no TLS. Leave sslmode out of the URL of the store.']],
  [/password must be a string|SASL/, CREDENTIALS],
  [/terminated|timeout|not queryable|connection error|calling end on the pool|Connection/, UNREACHABLE],
]

function codeOf(thrown: unknown): string {
  const code = (thrown as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : ''
}

function meaning(thrown: unknown): Meaning | undefined {
  const code = codeOf(thrown)
  // Several addresses were tried, and each failed in its own way.
  if (thrown instanceof AggregateError && code === '') return meaning(thrown.errors[0])
  const known = MEANINGS[code] ?? MEANINGS[code.slice(0, 2)]
  if (known !== undefined) return known
  if (/^E[A-Z_]+$/.test(code)) return UNREACHABLE
  if (code !== '' || !(thrown instanceof Error)) return undefined
  return SAYINGS.find(([pattern]) => pattern.test(thrown.message))?.[1]
}

/** Whether the same statement may succeed in a moment, on another connection. */
export function isPassing(thrown: unknown): boolean {
  return meaning(thrown)?.[0] === 'unavailable' && !/^(58|XX)/.test(codeOf(thrown))
}

/** @param subject what the message is about: host and database when it is opened, neither where callers may read it */
export function storeError(thrown: unknown, subject: string): RunbridgeError {
  if (thrown instanceof RunbridgeError) return thrown
  const [code, what] = meaning(thrown) ?? ['internal', 'met an unexpected error; see the server log.']
  return new RunbridgeError(code, `${subject} ${what}`, { cause: thrown })
}
