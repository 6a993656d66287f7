// What a bundler makes of the smallest set-up: the server, one engine and the store in memory, in one minified file.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'tsdown'
import { root } from '../bin/command.mjs'
import { figure } from './measure.mjs'

const SET_UP = `
import { createServer, resolveTool, serveHttp } from '@runbridge/server'
import { createStepFunctionsClients, stepFunctions } from '@runbridge/step-functions'
import { memory } from '@runbridge/stores/memory'
export { createServer, createStepFunctionsClients, memory, resolveTool, serveHttp, stepFunctions }
`

/** What a bundler keeps that takes `z` of `import { z }` for a value, as esbuild does: all of zod, its locales too. */
const WHOLE_ZOD = "\nexport { z } from 'zod'\n"

/** Everything of ours as it would be with the other import; what others import stays theirs. */
const NAMED_ZOD = {
  name: 'named-zod',
  transform: (/** @type {string} */ code) =>
    code.replaceAll(/import \* as z from (["'])zod\1/g, 'import { z } from $1zod$1'),
}

/**
 * @param {string} folder for files
 * @returns {Promise<import('./measure.mjs').Figure[]>}
 */
export async function bundleSize(folder) {
  const figures = []
  for (const { name, setUp, plugins } of [
    { name: 'with `import * as z`', setUp: SET_UP, plugins: [] },
    { name: 'with `import { z }`', setUp: SET_UP, plugins: [NAMED_ZOD] },
    { name: 'with all of zod kept', setUp: SET_UP + WHOLE_ZOD, plugins: [] },
  ]) {
    const { bytes, gzipped } = await bundled(setUp, join(folder, name.replaceAll(/\W+/g, '-')), plugins)
    figures.push(
      figure(`smallest set-up ${name}: minified`, bytes / 1000, 'kB'),
      figure(`smallest set-up ${name}: gzipped`, gzipped / 1000, 'kB'),
    )
  }
  return figures
}

/**
 * @param {string} setUp
 * @param {string} outDir
 * @param {import('tsdown').InlineConfig['plugins'] & object[]} plugins
 */
async function bundled(setUp, outDir, plugins) {
  // Beside the packages, so that it finds them.
  const entry = join(root, `test/bench/.set-up-${process.pid}.mjs`)
  writeFileSync(entry, setUp)
  try {
    await build({
      config: false,
      entry: { bundle: entry },
      outDir,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      minify: true,
      dts: false,
      report: false,
      logLevel: 'silent',
      tsconfig: false,
      deps: { alwaysBundle: [/.*/], onlyAllowBundle: false },
      plugins,
    })
  } finally {
    rmSync(entry, { force: true })
  }
  const files = readdirSync(outDir)
    .filter((file) => /\.m?js$/.test(file))
    .map((file) => readFileSync(join(outDir, file)))
  const sum = (/** @type {number[]} */ sizes) => sizes.reduce((total, size) => total + size, 0)
  return {
    bytes: sum(files.map((file) => file.length)),
    gzipped: sum(files.map((file) => gzipSync(file).length)),
  }
}
