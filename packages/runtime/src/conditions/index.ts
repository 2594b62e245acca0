/** @module Conditions of a status: set, read and removed without rewriting their time of transition. */
export * from './condition.ts'
