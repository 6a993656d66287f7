import { expect, it } from 'vitest'
import { startDemoGoogle } from './google.js'

it('the manual is published with what the editor answers', async () => {
  const engine = await startDemoGoogle(0)
  const execution = engine.execute('translate-manual', { language: 'de' })
  await expect.poll(() => engine.callbacks()[0]?.waiters).toBe(1)
  const body = JSON.stringify({ approved: true })
  await fetch(engine.callbacks()[0]?.url ?? '', { method: 'POST', body })
  await engine.ended(execution)
  expect(engine.executions()).toMatchObject([
    { state: 'SUCCEEDED', result: '{"language":"de","pages":3,"review":{"approved":true}}' },
  ])
  await engine.close()
})
