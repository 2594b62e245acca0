/** @module Objects divided among replicas by a consistent hash of their keys, with a Lease for each shard. */
export { SHARDING_DEFAULTS } from '../defaults.ts'
export { ShardElector, type ShardingOptions, type ShardListener, type ShardOwnership } from './shard-elector.ts'
export { shardOf } from './shard-of.ts'
export type { ShardTerm } from './shard-term.ts'
export * from './sharding-error.ts'
