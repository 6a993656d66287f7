import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { root } from '../bin/command.mjs'

/**
 * Requirements that are easy to miss, and the tests that hold them, by title. `ext`: the Tasks extension; `core`: the
 * protocol of 2026-07-28.
 * @type {readonly { must: string, source: string, tests: readonly string[] }[]}
 */
const MUSTS = [
  {
    must: 'no progress or message notifications for a task after its handle was returned',
    source: 'ext, status notifications',
    tests: ['no progress or message notifications for a task after its handle was returned'],
  },
  {
    must: 'a task notification is what tasks/get would have said at that moment',
    source: 'ext',
    tests: ['a task notification is what tasks/get would have said at that moment'],
  },
  {
    must: 'no progress or message notifications on a listen stream',
    source: 'ext, status notifications',
    tests: ['no progress or message notifications on a listen stream'],
  },
  {
    must: 'listen: nothing before the acknowledgement',
    source: 'core, subscriptions',
    tests: [
      'listen: nothing before the acknowledgement; then a snapshot of each task at once, then every change',
    ],
  },
  {
    must: 'listen: only what was requested',
    source: 'core, subscriptions',
    tests: [
      'listen: only what was requested; unknown, foreign and other forms’ ids are left out alike',
      'an expired id is left out, and a stream for nothing ends at once',
    ],
  },
  {
    must: 'listen: the subscription id, type preserved, on every frame',
    source: 'core, subscriptions',
    tests: ['listen: the subscription id %j, type preserved, on every frame'],
  },
  {
    must: 'listen: -32021 for `taskIds` from a client that did not declare the extension',
    source: 'ext, status notifications',
    tests: ['listen: -32021 for taskIds from a client that did not declare the extension'],
  },
  {
    must: 'listen: a frame is what tasks/get says at that moment',
    source: 'ext, status notifications',
    tests: ['listen: a frame is what tasks/get says at that moment, to each caller as it can be asked'],
  },
  {
    must: 'listen: a server that ends a subscription says so with its result',
    source: 'core, subscriptions, graceful closure',
    tests: [
      'a server that closes says goodbye on every stream; the run goes on',
      'goes on for the tasks that remain, and ends gracefully when the last has ended',
    ],
  },
  {
    must: 'no server requests on the modern era',
    source: 'core, transports',
    tests: [
      'no server requests on the modern era',
      'unknown methods are -32601, and no request ever comes from the server',
    ],
  },
  {
    must: 'an elicitation only to a caller that declared it (form mode); multi round-trip and gates alike',
    source: 'core, mrtr',
    tests: [
      'an elicitation only to a caller that declared it (form mode); its answers count alone',
      'a client that can not be asked gets a refusal that says how',
    ],
  },
  {
    must: 'the request state is verified before any answer in it counts',
    source: 'core, mrtr',
    tests: ['the request state is verified before any answer in it counts'],
  },
  {
    must: 'progress strictly increases; one progress token for the call; stops at the end',
    source: 'core, progress',
    tests: ['progress strictly increases, under one token, and stops at the end'],
  },
  {
    must: 'cache hints on lists; what depends on the caller is private',
    source: 'core, caching',
    tests: ['cache hints on lists; what depends on the caller is private'],
  },
  {
    must: 'an unsupported `$schema` is refused; `$ref` never fetched from a network',
    source: 'core, basic',
    tests: ['refuses %j at configuration', 'accepts the dialect by name and references inside the document'],
  },
  {
    must: 'a structured result conforms to the output schema of its tool',
    source: 'core, server/tools, output schema',
    tests: [
      'of 2026-07-28, which knows the schema of a tool that answers at once',
      'leaves the task completed, and is warned of once',
    ],
  },
  {
    must: 'the result nested in tasks/get carries `resultType: complete`; stored results carry none',
    source: 'ext',
    tests: ['the result nested in tasks/get carries resultType: complete'],
  },
  {
    must: 'no related-task metadata on an extension result; no requestState on a task',
    source: 'ext',
    tests: ['no related-task metadata on an extension result; no requestState on a task'],
  },
  {
    must: 'a tool that requires tasks, called without: -32021 on the modern era',
    source: 'ext',
    tests: ['a tool that requires tasks, called without: -32021 on the modern era'],
  },
  {
    must: 'unknown, foreign and expired ids get the same answer',
    source: 'ext, security considerations',
    tests: ['unknown, foreign, expired and other forms’ ids get the same answer'],
  },
  {
    must: 'a handle only for the request that declared the extension',
    source: 'ext, capability negotiation',
    tests: ['a handle only for the request that declared the extension'],
  },
]

/**
 * Those of 2025-11-25, which the older sessions are held to.
 * @type {typeof MUSTS}
 */
const MUSTS_2025 = [
  {
    must: 'a tool that requires tasks, called without: -32601; one that forbids them, called with `task`: -32601',
    source: 'tasks, tool-level negotiation',
    tests: ['a tool that requires tasks, called without: -32601; one that forbids them, called with: -32601'],
  },
  {
    must: 'an accepted task call returns CreateTaskResult, whatever happens to the start; the task begins as `working`',
    source: 'tasks, result retrieval, status lifecycle',
    tests: [
      'an accepted task call returns CreateTaskResult, whatever happens to the start',
      'begins in working, whatever becomes of the start',
    ],
  },
  {
    must: 'a receiver that has not declared tasks ignores the parameter',
    source: 'tasks, task support and handling',
    tests: ['of a revision without tasks ignores the parameter and answers normally'],
  },
  {
    must: 'tasks/result blocks until the end, then returns exactly what the call would have returned, or the same JSON-RPC error',
    source: 'tasks, result retrieval',
    tests: [
      'blocks until the end, then returns exactly what the call would have returned, or the same JSON-RPC error',
      'says that the task goes on when the server closes, and never that it ended',
    ],
  },
  {
    must: 'createdAt, lastUpdatedAt and the actual ttl in every task response',
    source: 'tasks, ttl and resource management',
    tests: ['createdAt, lastUpdatedAt and the actual ttl in every task response'],
  },
  {
    must: 'cancel of a terminal task: -32602; a cancelled task stays cancelled',
    source: 'tasks, task cancellation',
    tests: [
      'cancel of a terminal task -32602; a cancelled task stays cancelled, whatever becomes of its run',
    ],
  },
  {
    must: 'tasks are cancelled by tasks/cancel, not by notifications/cancelled',
    source: 'cancellation',
    tests: [
      '2025 tasks are cancelled by tasks/cancel, not by notifications/cancelled, a closed connection or DELETE',
    ],
  },
  {
    must: 'related-task metadata on elicitations, progress and tasks/result; not on get, list, cancel and status; ignored in requests',
    source: 'tasks, associating task-related messages',
    tests: [
      'on the result and on elicitations',
      'not on a task: create, get, list, cancel, status',
      'related-task metadata in requests is ignored',
    ],
  },
  {
    must: 'progress goes on for the task’s life under its token, and strictly increases',
    source: 'tasks, task progress notifications; progress',
    tests: ['tells of its status and its progress for as long as it goes on'],
  },
  {
    must: 'an elicitation only to a client that declared it',
    source: 'elicitation',
    tests: ['an elicitation only to a client that declared it'],
  },
  {
    must: 'invalid cursor -32602; nextCursor whenever there is more; whatever get finds, list lists',
    source: 'tasks, task listing',
    tests: ['invalid cursor -32602; nextCursor whenever there is more; whatever get finds, list lists'],
  },
  {
    must: 'requestors that can’t be told apart are not offered tasks/list',
    source: 'tasks, task isolation and access control',
    tests: ['requestors that can not be told apart are not offered tasks/list'],
  },
  {
    must: 'tasks are bound to the authorization context',
    source: 'tasks, task isolation and access control',
    tests: ['unknown, foreign and expired ids, and those of other forms get the same answer'],
  },
  {
    must: 'a session is created by initialize alone, and bound to its caller',
    source: 'transports, session management',
    tests: [
      'is created only by initialize, under an id of visible ASCII that nobody can guess',
      'is bound to the caller that made it',
    ],
  },
  {
    must: 'an ended session is 404; a bad protocol version header is 400',
    source: 'transports, session management, protocol version header',
    tests: ['an ended session is 404, and one that never was', 'a bad protocol version header is 400'],
  },
]

/** The requirements of the extension and of 2026-07-28, with the places of their tests. */
export const musts = () => placed(MUSTS)

/** Those of 2025-11-25. */
export const musts2025 = () => placed(MUSTS_2025)

/**
 * Each requirement with the places of its tests. Throws for one that no test holds.
 * @param {typeof MUSTS} wanted
 * @returns {{ must: string, source: string, places: { file: string, line: number }[] }[]}
 */
function placed(wanted) {
  const known = testTitles()
  return wanted.map(({ must, source, tests }) => ({
    must,
    source,
    places: tests.map((title) => {
      const place = known.get(title)
      if (!place)
        throw new Error(`No test is named "${title}" any more; mend test/docs/musts.mjs or the test.`)
      return place
    }),
  }))
}

/** Where tests and groups of tests stand, by title. */
export function testTitles() {
  /** @type {Map<string, { file: string, line: number }>} */
  const found = new Map()
  for (const folder of ['packages/core/src', 'packages/server/src', 'test/e2e']) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.test.ts')) continue
      const file = `${folder}/${name.replaceAll('\\', '/')}`
      const source = ts.createSourceFile(
        file,
        readFileSync(join(root, file), 'utf8'),
        ts.ScriptTarget.Latest,
        true,
      )
      const visit = (/** @type {ts.Node} */ node) => {
        if (ts.isCallExpression(node) && node.arguments[0] && ts.isStringLiteralLike(node.arguments[0])) {
          const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1
          if (/^(describe|it|test)\b/.test(node.expression.getText()))
            found.set(node.arguments[0].text, { file, line })
        }
        ts.forEachChild(node, visit)
      }
      visit(source)
    }
  }
  return found
}
