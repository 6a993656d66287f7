import { fileURLToPath } from 'node:url'
import type { BuildOptions } from 'esbuild'

const instead = (file: string) => fileURLToPath(new URL(`../lambda/instead/${file}.ts`, import.meta.url))

/** What is never used on Lambda, and what takes its place in the bundle; each file says why. */
export const ALIASES: Readonly<Record<string, string>> = {
  '@modelcontextprotocol/server/_shims': instead('mcp-shims'),
  '@modelcontextprotocol/server/stdio': instead('mcp-stdio'),
  '@smithy/core/event-streams': instead('event-streams'),
  '@aws-sdk/credential-provider-node': instead('credential-provider-node'),
  '@aws-sdk/credential-providers': instead('credential-providers'),
}

/**
 * How the handler becomes one file. `module` before `main` lets esbuild leave out of the SDKs what is not used; the
 * banner is for libraries that still call `require` for Node's own modules.
 */
export const BUNDLING = {
  // Loaded where the configuration comes from there: from the SDK that Lambda's runtime has, and for the text of a
  // parameter from beside the bundle.
  externalModules: ['@aws-sdk/client-secrets-manager', '@aws-sdk/client-ssm', 'yaml'],
  mainFields: ['module', 'main'],
  minify: true,
  target: 'node22',
  banner: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
}

/** What the CDK makes of `BUNDLING` and `ALIASES`, for esbuild itself. */
export function esbuildOptions(entry: string) {
  const { banner, externalModules, ...options } = BUNDLING
  return {
    ...options,
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'esm',
    alias: { ...ALIASES },
    external: externalModules,
    banner: { js: banner },
    outfile: 'index.mjs',
    logLevel: 'error',
  } satisfies BuildOptions
}
