import type { UserConfig } from 'tsdown'

/** What every package's build shares: ESM for Node 20, one file a module, declarations beside. */
export function library(entry: string[]): UserConfig {
  return {
    entry,
    // dist mirrors src, also where a package has one entry in a folder.
    root: 'src',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    fixedExtension: false,
    unbundle: true,
    sourcemap: true,
    dts: true,
    clean: true,
    // Dependencies and the other packages stay imports, in JavaScript and in declarations.
    deps: { skipNodeModulesBundle: true },
  }
}
