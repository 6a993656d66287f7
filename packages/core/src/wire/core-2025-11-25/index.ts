export * from './codec.js'
export * from './errors.js'
export * from './schemas.js'
export * from './states.js'
