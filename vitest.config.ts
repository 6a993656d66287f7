import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('.', import.meta.url))
const base = JSON.parse(readFileSync(`${root}tsconfig.base.json`, 'utf8')) as {
  compilerOptions: { paths: Record<string, [string]> }
}

/** Tests read the packages' sources, by the same table as the type checker. */
const alias = Object.entries(base.compilerOptions.paths).map(([from, [to]]) => ({
  find: new RegExp(`^${from.replace('*', '(.+)')}$`),
  replacement: root + to.replace('./', '').replace('*', '$1'),
}))

export default defineConfig({
  resolve: { alias },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'infra/{lambda,src}/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/bin/vitest-setup.mjs'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
})
