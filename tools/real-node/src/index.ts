/** @module A real node for tests, see README.md. */
export * from './defaults.ts'
export * from './errors.ts'
export { type EventuallyOptions, eventually } from './eventually.ts'
export { type LayoutRegistry, startLayoutRegistry } from './layout-registry.ts'
export type { Controlled } from './node-control.ts'
export { type RunOptions, runProgram } from './run-program.ts'
export { trustRegistry } from './trust-registry.ts'
