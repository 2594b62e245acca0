/** @module Leader election by Lease, and clients that do not write once it is lost. */
export { ELECTION_DEFAULTS } from '../defaults.ts'
export * from './election-error.ts'
export { type LeaderElectionOptions, LeaderElector, type Resignation } from './leader-election.ts'
export type { Leadership, WritePermit } from './leadership.ts'
