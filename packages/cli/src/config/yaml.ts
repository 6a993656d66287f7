/** The package, handed over by who loads it: what reads a compiled configuration does without (116 kB). */
export type Yaml = typeof import('yaml')
