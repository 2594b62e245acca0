/** @module `/healthz`, `/readyz` and the server for them and `/metrics`. */
export { HEALTH_DEFAULTS } from '../defaults.ts'
export * from './health-checks.ts'
export * from './health-server.ts'
