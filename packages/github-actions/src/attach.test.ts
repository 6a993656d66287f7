import { expect, it } from 'vitest'
import { CI, context, createWorld } from './testing/world.js'

it('takes the address or the id of a run, in its present attempt or the one that is named', async () => {
  const { backend, emulator, clients } = await createWorld()
  const id = String(emulator.start('octo/shop', 'ci.yml'))
  emulator.rerun(Number(id))
  const attach = (reference: string) => backend.attach?.(CI, reference, context)
  const site = `http://${clients.host}/octo/shop/actions/runs/${id}`
  for (const reference of [id, ` ${site} `, `${site}/job/17`, site.replace('octo/shop', 'Octo/Shop')]) {
    expect(await attach(reference)).toEqual({ kind: 'attached', run: { id, attempt: 2 } })
  }
  expect(await attach(`${site}/attempts/1`)).toEqual({ kind: 'attached', run: { id, attempt: 1 } })
  expect(await attach(`${site}/attempts/3`)).toMatchObject({
    kind: 'refused',
    error: { code: 'invalid_input' },
  })
})

it('watches nothing elsewhere, and no other workflow unless all are configured', async () => {
  const file = 'on: push'
  const { backend, emulator, clients } = await createWorld({
    repositories: {
      'octo/shop': { workflows: { 'ci.yml': { file }, 'other.yml': { file } } },
      'octo/secret': { workflows: { 'ci.yml': { file } } },
    },
  })
  const other = emulator.start('octo/shop', 'other.yml')
  const foreign = emulator.start('octo/secret', 'ci.yml')
  const site = `http://${clients.host}`
  for (const reference of [
    `${site}/octo/secret/actions/runs/${foreign}`,
    `https://evil.example/octo/shop/actions/runs/${other}`,
    String(foreign),
    String(other),
    '1/../../../secret/actions/runs/1',
    '',
  ]) {
    expect(await backend.attach?.(CI, reference, context), reference).toMatchObject({ kind: 'refused' })
  }
  const any = { id: 'octo/shop/*' }
  expect((await backend.attach?.(any, String(other), context))?.kind).toBe('attached')
  expect((await backend.describe(any, context)).capabilities.start).toBe('blind')
  const all = []
  for await (const found of backend.discover?.({ repository: 'octo/shop' }, context) ?? []) all.push(found.id)
  expect(all).toEqual(['octo/shop/ci.yml', 'octo/shop/other.yml'])
})
