/** The rules of docs/architecture.md, "Directions", as tables. A new package belongs in each of them. */

/**
 * Which packages of ours a package may import. `core` stands on nothing, `emulators` knows nobody.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const MAY_IMPORT = {
  core: [],
  stores: ['core'],
  'step-functions': ['core'],
  'google-workflows': ['core'],
  'github-actions': ['core'],
  server: ['core'],
  emulators: [],
  cli: ['core', 'stores', 'step-functions', 'google-workflows', 'github-actions', 'server', 'emulators'],
}

/** Which packages of ours `infra` may import, which joins them on Lambda and which nothing imports. */
export const INFRA_MAY_IMPORT = ['cli', 'stores', 'step-functions']

/**
 * Which SDKs and libraries a package stands on; its manifest may name no others.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const STANDS_ON = {
  core: ['zod'],
  stores: ['@aws-sdk/client-dynamodb', 'libsql', 'pg'],
  'step-functions': ['@aws-sdk/client-sfn', '@aws-sdk/credential-providers', 'zod'],
  'google-workflows': ['@google-cloud/workflows', '@grpc/grpc-js', 'google-auth-library', 'zod'],
  'github-actions': [
    '@octokit/auth-app',
    '@octokit/plugin-throttling',
    '@octokit/rest',
    'yaml',
    'yauzl',
    'zod',
  ],
  server: [
    '@hono/node-server',
    '@modelcontextprotocol/sdk',
    '@modelcontextprotocol/server',
    'ajv',
    'ajv-formats',
    'hono',
    'jose',
    'pino',
    'zod',
  ],
  emulators: [
    '@google-cloud/workflows',
    '@grpc/grpc-js',
    '@grpc/proto-loader',
    'aws-local-stepfunctions',
    'yaml',
    'zod',
  ],
  cli: [
    '@aws-sdk/client-dynamodb',
    '@aws-sdk/client-sfn',
    '@aws-sdk/credential-providers',
    '@modelcontextprotocol/client',
    '@modelcontextprotocol/ext-tasks',
    'commander',
    'libsql',
    'pg',
    'pino',
    'yaml',
    'zod',
  ],
}

/**
 * What may load the emulators: the demo, nothing else that a user runs.
 * @param {{ pkg: string, file: string }} source
 */
export function isDemo(source) {
  return source.pkg === 'cli' && /(^|\/)demo(\/|\.ts$|-[a-z-]+\.ts$)/.test(source.file)
}

/**
 * The floors inside core, from a file's path below `src`. `domain`: words, ports and rules. `service`: the task
 * service. `wire:<form>`: one wire form. `testing`: the conformance kits. `index`: what is published.
 * @param {string} file
 */
export function coreFloor(file) {
  if (file === 'index.ts') return 'index'
  const [folder, form] = file.split('/')
  if (folder === 'wire') return `wire:${form}`
  if (folder === 'service' || folder === 'testing') return folder
  return 'domain'
}

/**
 * Whether a file on one floor of core may import from another. Types of the service's port are the domain's.
 * @param {string} from
 * @param {string} to
 */
export function coreMayImport(from, to) {
  if (from === to) return true
  if (from === 'index') return to === 'domain' || to === 'service'
  if (from === 'domain') return false
  if (from === 'service') return to === 'domain'
  if (from === 'testing') return to === 'domain' || to === 'service'
  return to === 'domain'
}

/** The service's port: shapes alone, so that the domain and the wire forms can speak of a task. */
export const SERVICE_PORT = 'service/task-service.ts'

/** Test runners, which the published suites are handed instead of importing. */
export const RUNNERS = ['vitest', 'jest', '@jest/globals', 'mocha', 'ava', 'tap', 'node:test', 'bun:test']
