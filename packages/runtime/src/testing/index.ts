/** @module What tests of operators need: a simulated clock and repeatable chance. */
export * from './recording-logger.ts'
export * from './seeded-random.ts'
export * from './simulated-clock.ts'
