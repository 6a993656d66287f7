import { deepStrictEqual, ok } from 'node:assert'
import { operations, startGitHubEmulator } from '@runbridge/emulators/github'
import { createGitHubClients, githubActions } from '@runbridge/github-actions'
import { createChecks } from '../checks.mjs'
import { describedBy } from './against-description.mjs'
import { download } from './downloads.mjs'
import { simulatedHour } from './hour.mjs'
import { SHOP } from './repository.mjs'
import { throughTheServer } from './through-the-server.mjs'

/** @typedef {import('@runbridge/emulators/github').Exchange} Exchange */

/**
 * GitHub Actions through the built server and the official client, an hour of quota, and both sides against GitHub's
 * own description of its API.
 * @type {import('../../bin/interop.mjs').Part}
 */
export async function github(print) {
  const checks = createChecks(print)
  const { check, skip, figures } = checks
  await download(print)
  /** @type {Exchange[]} */
  const exchanges = []
  const onExchange = (/** @type {Exchange} */ exchange) => void exchanges.push(exchange)
  await throughTheServer(checks, print, onExchange)
  await check('twenty runs of an hour cost less than a fifth of the quota of one token', async () => {
    const hour = await simulatedHour({ runs: 20, minutes: 58, onExchange })
    const { looks, requests, notModified, costed } = hour
    print(
      `        one hour, 20 runs: ${looks} looks, ${requests} requests, ${notModified} of them 304, ${costed} of 5,000`,
    )
    deepStrictEqual(hour.states, ['succeeded'])
    ok(costed < 1_000, `${costed} requests cost quota`)
  })
  exchanges.push(...(await theRest()))
  const current = describedBy('api.github.com')
  await check("every request and every body is as GitHub's description has it", () => {
    for (const exchange of exchanges) current.check(exchange)
    deepStrictEqual(listed(current.problems), [])
    const missing = Object.keys(operations).filter((name) => !current.counts.has(name))
    deepStrictEqual(missing, [], 'operations that nothing asked for')
  })
  print(`        ${exchanges.length} exchanges of ${current.counts.size} operations compared`)
  await check(
    'what an older GitHub Enterprise Server is asked is as its own description has it',
    async () => {
      const older = describedBy('ghes-3.19')
      for (const exchange of await olderServer()) older.check(exchange)
      deepStrictEqual(listed(older.problems), [])
    },
  )
  skip(
    'github.com itself',
    'nothing here reaches it; docs/github-actions.md lists what was not run against it',
  )
  return figures
}

/** @param {ReadonlyMap<string, ReadonlySet<string>>} problems */
function listed(problems) {
  return [...problems].flatMap(([operation, found]) =>
    [...found].slice(0, 5).map((each) => `${operation}: ${each}`),
  )
}

const context = { signal: new AbortController().signal, owner: 'local' }

/** The operations that no call of the server needs. */
async function theRest() {
  return recorded({}, async (backend, emulator) => {
    const { run } = /** @type {any} */ (
      await backend.start({ id: 'octo/shop/build.yml' }, 'rb-1', { version: '1' }, context)
    )
    for await (const _ of backend.discover?.({ repository: 'octo/shop' }, context) ?? []);
    await backend.log?.({ id: 'octo/shop/build.yml' }, run, { offset: 0, limit: 100 }, context)
    const fork = {
      id: String(emulator.start('octo/shop', 'fork.yml', { event: 'pull_request' })),
      attempt: 1,
    }
    const gate = { id: 'fork', step: 'approval to run', prompt: '?', schema: {} }
    await backend.answer({ id: 'octo/shop/fork.yml' }, fork, gate, { action: 'accept', content: {} }, context)
  })
}

/** A whole run on a server that tells no ids. */
async function olderServer() {
  return recorded({ dispatch: 'none' }, async (backend) => {
    const workflow = { id: 'octo/shop/build.yml' }
    await backend.describe(workflow, context)
    await backend.start(workflow, 'rb-1', { version: '1' }, context)
    const found = await backend.find(workflow, 'rb-1', context)
    if (found.kind !== 'found') throw new Error(`not found: ${found.kind}`)
    await backend.get(workflow, found.run, { ...context, gates: true, progress: true })
    await backend.cancel(workflow, found.run, 'enough', context)
    await backend.cancel(workflow, found.run, 'enough', { ...context, escalation: 1 })
  })
}

/**
 * @param {Partial<import('@runbridge/emulators/github').GitHubEmulatorOptions>} options
 * @param {(backend: import('@runbridge/github-actions').GitHubActionsBackend, emulator: import('@runbridge/emulators/github').GitHubEmulator) => Promise<void>} use
 */
async function recorded(options, use) {
  /** @type {Exchange[]} */
  const exchanges = []
  const fork = {
    file: 'on: pull_request\njobs: {}\n',
    script: (/** @type {{ approved: boolean }} */ { approved }) =>
      approved ? {} : { conclusion: /** @type {const} */ ('action_required') },
  }
  const emulator = await startGitHubEmulator({
    repositories: { 'octo/shop': { ...SHOP, workflows: { ...SHOP.workflows, 'fork.yml': fork } } },
    onExchange: (exchange) => void exchanges.push(exchange),
    ...options,
  })
  try {
    const token = { token: 'a-token' }
    const clients = await createGitHubClients({
      credentials: token,
      reviewer: token,
      baseUrl: emulator.url,
      pacing: false,
    })
    await use(githubActions({ clients }), emulator)
  } finally {
    await emulator.close()
  }
  return exchanges
}
