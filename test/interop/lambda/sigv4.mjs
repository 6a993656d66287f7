import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/**
 * @typedef {object} Signed a request as it came
 * @property {string} method
 * @property {string} path percent-encoded, as it was sent
 * @property {string} query without the question mark, as it was sent
 * @property {Record<string, string>} headers by their lower-case names
 * @property {Buffer} body
 */
/** @typedef {{ secretAccessKey: string, sessionToken?: string }} Secret */

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/
const SKEW_MS = 5 * 60_000

/**
 * Checks a signature as AWS describes it, by nobody's library, so that those who sign are checked by something else.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 * @param {Signed} request
 * @param {{ service: string, region: string, secretOf: (accessKeyId: string) => Secret | undefined, now: number }} expected
 * @returns {{ accessKeyId: string, signedHeaders: string[] } | { refused: string }}
 */
export function verifySigV4(request, { service, region, secretOf, now }) {
  const { headers, body } = request
  const [, accessKeyId = '', date = '', ofRegion, ofService, names = '', signature = ''] =
    AUTHORIZATION.exec(headers.authorization ?? '') ?? []
  if (accessKeyId === '') return { refused: 'no signature' }
  if (ofRegion !== region || ofService !== service)
    return { refused: `signed for ${ofService} in ${ofRegion}` }
  const secret = secretOf(accessKeyId)
  if (!secret) return { refused: 'an unknown access key' }
  if (headers['x-amz-security-token'] !== secret.sessionToken) return { refused: 'another session token' }
  const time = headers['x-amz-date'] ?? ''
  const at = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  if (!time.startsWith(date) || !(Math.abs(at - now) <= SKEW_MS)) return { refused: `signed at ${time}` }
  const signedHeaders = names.split(';')
  const needed = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))]
  const unsigned = needed.filter((name) => !signedHeaders.includes(name))
  if (unsigned.length > 0) return { refused: `not signed: ${unsigned.join(', ')}` }
  const bodyHash = sha256(body)
  if ((headers['x-amz-content-sha256'] ?? bodyHash) !== bodyHash) return { refused: 'another body' }

  const canonical = [
    request.method,
    canonicalPath(request.path),
    canonicalQuery(request.query),
    ...signedHeaders.map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}`),
    '',
    names,
    bodyHash,
  ].join('\n')
  const scope = `${date}/${region}/${service}/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const key = [date, region, service, 'aws4_request'].reduce(
    (/** @type {string | Buffer} */ made, part) => hmac(made, part),
    `AWS4${secret.secretAccessKey}`,
  )
  const right = hmac(key, toSign)
  if (!timingSafeEqual(right, Buffer.from(signature, 'hex'))) return { refused: 'another signature' }
  return { accessKeyId, signedHeaders }
}

/** Encoded once more than it is, for every service but S3, and without `.` and `..`. @param {string} path */
function canonicalPath(path) {
  const { pathname } = new URL(`http://host${path.replaceAll(/\/+/g, '/')}`)
  return pathname.split('/').map(encode).join('/')
}

/** @param {string} query */
function canonicalQuery(query) {
  const pairs = query === '' ? [] : query.split('&').map((pair) => /** @type {const} */ ([...split(pair)]))
  return pairs
    .map(([name, value]) => `${encode(decodeURIComponent(name))}=${encode(decodeURIComponent(value))}`)
    .sort((one, other) => (one < other ? -1 : 1))
    .join('&')
}

/** @param {string} pair @returns {[string, string]} */
function split(pair) {
  const at = pair.indexOf('=')
  return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
}

/** RFC 3986: all but unreserved characters. @param {string} text */
function encode(text) {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** @param {string | Buffer} data */
const sha256 = (data) => createHash('sha256').update(data).digest('hex')

/** @param {string | Buffer} key @param {string} data */
const hmac = (key, data) => createHmac('sha256', key).update(data).digest()
