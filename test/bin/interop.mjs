// `npm run interop [-- --json] [-- PART…]`: the product against engines, clients and answers that others made. Each part
// ends with one line of figures; the exit status means all of them.

/** @typedef {import('../interop/checks.mjs').Figures} Figures */
/** @typedef {(print: (line: string) => void) => Promise<Figures>} Part */

/** @type {Readonly<Record<string, () => Promise<Part>>>} */
const PARTS = {
  clients: async () => (await import('../interop/clients/part.mjs')).clients,
  github: async () => (await import('../interop/github/part.mjs')).github,
  google: async () => (await import('../interop/google/part.mjs')).google,
  lambda: async () => (await import('../interop/lambda/part.mjs')).lambda,
  'step-functions': async () => (await import('../interop/step-functions/part.mjs')).stepFunctions,
}

// The AWS SDK says once a process that it will leave Node 20; the figures are to be read here.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'

const json = process.argv.includes('--json')
const asked = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const unknown = asked.filter((name) => !Object.hasOwn(PARTS, name))
if (unknown.length > 0) {
  console.error(`No such part: ${unknown.join(', ')}. There are: ${Object.keys(PARTS).join(', ')}.`)
  process.exit(2)
}

/** @type {Record<string, Figures>} */
const results = {}
for (const [name, load] of Object.entries(PARTS)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  const print = json ? () => {} : (/** @type {string} */ line) => console.log(line)
  try {
    const part = await load()
    results[name] = await part(print)
  } catch (thrown) {
    const reason = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
    results[name] = { passed: [], failed: [{ name: 'the part itself', reason }], skipped: [] }
    print(`FAILED  the part itself: ${reason}`)
  }
  const { passed, failed, skipped } = results[name]
  if (!json)
    console.log(
      `interop ${name}: ${passed.length} passed, ${failed.length} failed, ${skipped.length} skipped`,
    )
}
if (json) console.log(JSON.stringify(results, null, 2))
process.exitCode = Object.values(results).every(({ failed }) => failed.length === 0) ? 0 : 1
