import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { RunbridgeError } from '@runbridge/core'

/** Shorter texts can't have 128 bits in any usual encoding. */
const MIN_KEY_CHARACTERS = 32
const KEY_ID_BYTES = 4
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Of the sealed bytes: what follows the key's id. */
const FORMAT = 1

/** What sealing adds to a text, in bytes. */
export const OVERHEAD_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES

export interface KeyRing {
  /** Encrypts and authenticates with the first key; `context` has to be the same when it is opened. */
  seal(plain: Uint8Array, context: string): Buffer
  /** Undefined for anything but what a key of the ring has sealed in this context. */
  open(sealed: Uint8Array, context: string): Buffer | undefined
  /** 32 bytes that follow from the first key. */
  derive(purpose: string): Uint8Array
}

interface Key {
  readonly id: Buffer
  readonly secret: Buffer
}

function derived(text: string, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', text, '', `runbridge ${purpose}`, bytes))
}

/**
 * AES-256-GCM under keys that are derived from texts (RFC 5869). The first seals, each opens. A random nonce of 96
 * bits is good for 2^32 messages of a key (NIST SP 800-38D, 8.3).
 */
export function keyRing(texts: readonly string[]): KeyRing {
  const [first] = texts
  if (first === undefined) throw misconfigured('The sealed store needs at least one key.')
  for (const [index, text] of texts.entries()) {
    if (text.length < MIN_KEY_CHARACTERS) {
      const problem = `Key ${index + 1} of the sealed store has ${text.length} characters, and ${MIN_KEY_CHARACTERS} random ones are needed.`
      throw misconfigured(`${problem} Make one with \`openssl rand -base64 32\`.`)
    }
  }
  const keys = texts.map(
    (text): Key => ({
      id: derived(text, 'key id', KEY_ID_BYTES),
      secret: derived(text, 'sealed task', 32),
    }),
  )
  const ids = new Map(keys.map((key) => [key.id.toString('hex'), key]))
  if (ids.size < keys.length) throw misconfigured('The sealed store has the same key twice. Name each once.')
  const [sealing] = keys as [Key, ...Key[]]

  /** Format and key are authenticated with what they lead to. */
  const bound = (header: Uint8Array, context: string) => Buffer.concat([header, Buffer.from(context)])

  return {
    seal(plain, context) {
      const header = Buffer.concat([Buffer.from([FORMAT]), sealing.id])
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', sealing.secret, nonce, { authTagLength: TAG_BYTES })
      cipher.setAAD(bound(header, context))
      return Buffer.concat([header, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
    },

    open(sealed, context) {
      const bytes = Buffer.from(sealed)
      if (bytes.length < OVERHEAD_BYTES || bytes[0] !== FORMAT) return undefined
      const header = bytes.subarray(0, 1 + KEY_ID_BYTES)
      const key = ids.get(header.subarray(1).toString('hex'))
      if (key === undefined) return undefined
      const nonce = bytes.subarray(header.length, header.length + NONCE_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', key.secret, nonce, { authTagLength: TAG_BYTES })
      decipher.setAAD(bound(header, context))
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      try {
        const body = bytes.subarray(header.length + NONCE_BYTES, -TAG_BYTES)
        return Buffer.concat([decipher.update(body), decipher.final()])
      } catch {
        return undefined
      }
    },

    derive: (purpose) => new Uint8Array(derived(first, purpose, 32)),
  }
}

function misconfigured(message: string): RunbridgeError {
  return new RunbridgeError('misconfigured', message)
}
