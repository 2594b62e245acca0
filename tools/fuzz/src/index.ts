/** @module What a fuzz target is written with. */
export { fuzz } from './fuzz.ts'
export { jsonDocument, jsonOf, jsonValue } from './json-inputs.ts'
export { broken, sameJson } from './law.ts'
export { attempt, attemptAsync, filesIn, textOf } from './target.ts'
