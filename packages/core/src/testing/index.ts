export * from './fake-backend.js'
export * from './runner.js'
