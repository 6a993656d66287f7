export * from './fake-backend.js'
export * from './manual-clock.js'
export * from './runner.js'
