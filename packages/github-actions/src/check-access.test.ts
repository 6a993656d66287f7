import { expect, it } from 'vitest'
import { FEATURES, PERMISSIONS } from './permissions.js'
import { CI, context, createWorld } from './testing/world.js'

it('tells what is there, what is missing and what can not be tried, without an effect', async () => {
  const { backend, emulator } = await createWorld({
    tokens: {
      'secret-of-the-server': { login: 'robot', permissions: { actions: 'read', contents: 'read' } },
      'secret-of-the-reviewer': { login: 'octocat' },
    },
  })
  const reports = await backend.checkAccess(CI, FEATURES, context)
  const access = reports.map((report) => `${report.token} ${report.permission} ${report.access}`)
  expect(access).toEqual([
    'server Metadata: read allowed',
    'server Contents: read allowed',
    'server Actions: write missing',
    'server Actions: read allowed',
    'server Contents: write unsure',
    'server Checks: read missing',
    'reviewer Actions: read allowed',
    'reviewer Deployments: write unsure',
    'reviewer Actions: write allowed',
  ])
  expect(emulator.runs()).toEqual([])
})

it('is sure of nothing in a repository that the token does not see', async () => {
  const { backend } = await createWorld()
  const reports = await backend.checkAccess(
    { id: 'octo/gone/ci.yml' },
    ['start', 'follow', 'failure'],
    context,
  )
  expect(reports.map(({ access }) => access)).toEqual(Array(5).fill('unsure'))
  for (const { note } of reports) expect(note).toContain('octo/gone')
})

it('says that a reviewer is missing', async () => {
  const { backend } = await createWorld({ reviewer: false })
  const reports = await backend.checkAccess(CI, ['gates'], context)
  expect(reports.map((report) => report.access)).toEqual(['missing', 'missing'])
})

it('knows the permissions of every feature', () => {
  for (const feature of FEATURES) expect(PERMISSIONS[feature].length).toBeGreaterThan(0)
})
