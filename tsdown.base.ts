import type { UserConfig } from 'tsdown'

/** What every package's build shares: ESM for Node 20, one file a module, declarations beside. */
export function library(entry: string[]): UserConfig {
  return {
    entry,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    fixedExtension: false,
    unbundle: true,
    sourcemap: true,
    dts: true,
    clean: true,
  }
}
