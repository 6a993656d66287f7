import { describe, expect, it } from 'vitest'
import { noCredentials } from './credentials.js'
import { restApi } from './rest-api.js'
import { EXECUTION } from './testing/scripted-clients.js'

const HOST = 'https://workflowexecutions.googleapis.com'
const BY_NUMBER = `${HOST}/v1/projects/12345/locations/europe-west1/workflows/deploy/executions/e-1/callbacks/c-1`

/** The requests that would have left, each answered as if the callback took it. */
async function called(url: string, method = 'POST', payload = {}) {
  const sent: string[] = []
  const original = globalThis.fetch
  globalThis.fetch = async (to, init) => {
    sent.push(`${init?.method} ${String(to)} ${init?.body ?? ''} ${init?.redirect}`)
    return new Response('')
  }
  try {
    const rest = restApi(await noCredentials(), 1000)
    const { signal } = new AbortController()
    const error = await rest
      .callback({ url, execution: EXECUTION, method, payload }, signal)
      .catch((thrown) => thrown)
    return { sent, error }
  } finally {
    globalThis.fetch = original
  }
}

describe('a callback', () => {
  it('of the execution at Google is called, whether the project is an id or a number', async () => {
    for (const url of [`${HOST}/v1/${EXECUTION}/callbacks/c-1`, BY_NUMBER]) {
      const { sent, error } = await called(url, 'POST', { a: 1 })
      expect(error).toBeUndefined()
      expect(sent).toEqual([`POST ${url} {"a":1} error`])
    }
  })

  for (const url of [
    BY_NUMBER.replace('https:', 'http:'),
    BY_NUMBER.replace('.com/', '.com:8443/'),
    BY_NUMBER.replace('https://', 'https://user:word@'),
    BY_NUMBER.replace('.com/', '.com.example/'),
    BY_NUMBER.replace('workflowexecutions.googleapis.com', 'evil.example/workflowexecutions.googleapis.com'),
    BY_NUMBER.replace('workflowexecutions', 'storage'),
    BY_NUMBER.replace('e-1', 'e-2'),
    BY_NUMBER.replace('deploy', 'delete-all'),
    BY_NUMBER.replace('/callbacks/c-1', ''),
    BY_NUMBER.replace('/callbacks/c-1', ':cancel'),
    `${BY_NUMBER}/../../../e-2/callbacks/c-1`,
    'http://169.254.169.254/computeMetadata/v1/',
    'file:///etc/passwd',
    'no url',
    '',
  ]) {
    it(`is not called at ${url || 'nothing'}`, async () => {
      const { sent, error } = await called(url)
      expect(sent).toEqual([])
      expect(error).toMatchObject({ code: 'misconfigured' })
      if (url.includes('c-1')) expect(error.message).not.toContain('c-1')
    })
  }
})
