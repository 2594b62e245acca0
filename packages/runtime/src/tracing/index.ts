/** @module Traces of reconciles, for OpenTelemetry. */
export * from './trace-reconciles.ts'
