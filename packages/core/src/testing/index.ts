export * from './fake-backend.js'
