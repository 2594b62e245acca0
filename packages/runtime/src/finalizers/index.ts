/** @module Finalizers: added before the first effect outside, removed after its clean-up. */
export * from './finalizer.ts'
export * from './with-finalizer.ts'
