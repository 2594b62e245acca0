/** @module How objects differ, and what of them may be shown; without the embedded cluster that plans need. */
export { type FieldChange, fieldDiff } from './field-diff.ts'
export { SENSITIVE } from './placeholders.ts'
export { type Conceal, type ConcealOptions, concealer, essence } from './shown-object.ts'
