/** @module Owner references: who controls an object, and who may. */
export * from './owner-reference.ts'
