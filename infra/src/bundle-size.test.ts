import { isBuiltin } from 'node:module'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it, vi } from 'vitest'
import { esbuildOptions } from './bundling.js'

vi.setConfig({ testTimeout: 60_000 })

/** Bytes of Step Functions with DynamoDB, minified: a cold start loads all of them. Raise it only for what is worth it. */
const MOST = 960_000
const MOST_GZIPPED = 300_000

it('the bundle of the handler has not grown', async () => {
  const { outputFiles, metafile } = await build({
    ...esbuildOptions(fileURLToPath(new URL('../lambda/handler.ts', import.meta.url))),
    write: false,
    metafile: true,
  })
  const [bundle] = outputFiles
  expect(bundle?.contents.length).toBeLessThan(MOST)
  expect(gzipSync(bundle?.contents ?? '').length).toBeLessThan(MOST_GZIPPED)
  // What a bundle imports from outside is loaded at every cold start, and does not start where it is missing.
  const outside = Object.values(metafile.outputs).flatMap(({ imports }) =>
    imports.filter(({ kind, path }) => kind === 'import-statement' && !isBuiltin(path)),
  )
  expect(outside).toEqual([])
  const inputs = Object.keys(metafile.inputs).join('\n')
  // Of the other engines no more than the names in a configuration, of the other stores nothing; no client of STS.
  for (const unused of [
    'octokit',
    'google-gax',
    'libsql',
    'node_modules/pg/',
    'emulators',
    '/pino/',
    'node_modules/yaml/',
    'nested-clients',
    'xml-builder',
    'server/dist/stdio',
  ])
    expect(inputs.includes(unused) && bundled(metafile, unused), unused).toBe(false)
})

function bundled(
  metafile: { outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }> },
  part: string,
) {
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs))
  return inputs.some(([file, { bytesInOutput }]) => file.includes(part) && bytesInOutput > 0)
}
