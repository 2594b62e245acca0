/** @module What a fuzz target is written with. */
export { type Attempt, attempt, attemptAsync, isA } from './attempt.ts'
export { jsonDocument, jsonOf, jsonValue } from './json-inputs.ts'
export { broken, LawBrokenError, sameJson } from './law.ts'
export { type FuzzTarget, textOf } from './target.ts'
