/** @module Conditions of a status: set, read and removed, with correct transition times. */
export * from './condition.ts'
