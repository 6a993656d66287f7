import { type Composition, type CompositionOptions, composeOf } from './compose-of.js'
import type { Config } from './config/schema.js'
import { type EngineOptions, openEngines } from './engines.js'
import { openStore } from './open-store.js'
import { version } from './version.js'

export interface ComposeOptions extends EngineOptions, CompositionOptions {}

/**
 * Joins the server with the store, the backends and the tools that the configuration names. Asks the engine for
 * every workflow; throws a RunbridgeError that lists every tool that can't be served and why.
 */
export function compose(config: Config, options: ComposeOptions): Promise<Composition> {
  const engines = openEngines(config.engines, options)
  const parts = { engines, openStore: () => openStore(config.store, options.log), version }
  return composeOf(config, parts, options)
}
