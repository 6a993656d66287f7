import { createHmac, randomUUID } from 'node:crypto'

/**
 * A delivery as GitHub sends it.
 * @param {object} payload @param {string} event @param {string} secret
 */
export function signed(payload, event, secret) {
  const body = JSON.stringify(payload)
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
  }
}
