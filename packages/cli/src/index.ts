export { type ComposeOptions, compose } from './compose.js'
export type { Composition } from './compose-of.js'
export { type ConfigProblem, type ConfigResult, loadConfig, parseConfig } from './config/config.js'
export type { Config, ToolConfig } from './config/schema.js'
