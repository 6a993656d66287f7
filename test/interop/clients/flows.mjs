/**
 * What a client is put through against the tools of fixtures/e2e.yaml. A client leaves out what it has no way to do.
 * @type {Readonly<Record<string, string>>}
 */
export const FLOWS = {
  list: 'lists the tools',
  call: 'calls a synchronous tool',
  hold: 'calls a workflow and waits for its result',
  question: 'is asked in the middle of a call',
  resource: 'reads the list of tasks as a resource',
  task: 'runs a workflow as a task to its result',
  failure: 'sees a failing task and its result',
  cancel: 'cancels a task',
  draft: 'runs a task of SEP-1686 under an id of its own',
}

/** @typedef {Partial<Record<string, () => Promise<void>>>} Flows each throws where the flow does not pass */
/**
 * @typedef {object} Target how a client reaches the server
 * @property {string | undefined} url over HTTP
 * @property {{ command: string, args: string[], env: Record<string, string> }} process over stdio
 */
/**
 * @typedef {object} Connected
 * @property {Flows} flows
 * @property {() => Promise<void>} close
 */

/** @param {unknown} seen @param {unknown} wanted */
export function same(seen, wanted) {
  const [left, right] = [JSON.stringify(seen), JSON.stringify(wanted)]
  if (left !== right) throw new Error(`saw ${left} in place of ${right}`)
}

/** The text of the first part. @param {any} result @returns {string} */
export const textOf = (result) => result?.content?.[0]?.text ?? ''

/** What every client that has `listTools`, `callTool` and `readResource` does. @param {any} client @returns {Flows} */
export function plainFlows(client) {
  return {
    async list() {
      const { tools } = await client.listTools()
      same(
        tools.some((/** @type {any} */ { name }) => name === 'compute'),
        true,
      )
    },
    async call() {
      same(textOf(await client.callTool({ name: 'greet', arguments: { name: 'Ada' } })), 'Hello, Ada!')
    },
    async hold() {
      const result = await client.callTool({ name: 'compute', arguments: { seconds: 1, label: 'held' } })
      same(textOf(result), 'held took 1 s')
    },
    async question() {
      const result = await client.callTool({ name: 'delete_file', arguments: { filename: 'a.txt' } })
      if (result.isError) throw new Error(textOf(result))
    },
    async resource() {
      const { contents } = await client.readResource({ uri: 'runbridge://tasks' })
      same(Array.isArray(JSON.parse(contents[0].text).tasks), true)
    },
  }
}
