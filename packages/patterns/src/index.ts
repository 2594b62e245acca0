/** @module Regular expressions that users write: RE2, and bounded before anything is built from them. */

export * from './compile-pattern.ts'
