/** Errors of sharding. */
import { RuntimeError } from '../runtime-error.ts'

/** Options of sharding that cannot work. */
export class ShardingConfigError extends RuntimeError {
  override readonly name = 'ShardingConfigError'

  constructor(message: string) {
    super('SHARDING_CONFIG', message)
  }
}

/** A shard goes to another replica: the reason of the signals of reconciles in progress. They run again there. */
export class ShardReleasedError extends RuntimeError {
  override readonly name = 'ShardReleasedError'

  constructor(shard: number, options?: ErrorOptions) {
    super('SHARD_RELEASED', `this replica no longer holds shard ${shard}`, options)
  }
}
