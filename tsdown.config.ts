import { defineConfig } from 'tsdown'

/** One build for all packages: each has a tsdown.config.ts that names its entries. */
export default defineConfig({ workspace: 'packages/*' })
