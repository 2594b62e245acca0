export { NotSettledError } from './activity.ts'
export { type Duration, milliseconds } from './duration.ts'
export { type OperatorUnderTest, type RunInMemoryOptions, runInMemory } from './run-in-memory.ts'
export type { Named, RequestFault, World, Written } from './world.ts'
