/** @module What tests of operators need: repeatable chance and recorded logs. */
export * from './recording-logger.ts'
export * from './seeded-random.ts'
