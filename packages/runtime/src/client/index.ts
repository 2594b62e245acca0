/** @module A client with interceptors: own writes laid over a cache, no write without leadership. */
export { type ClientCall, type Interceptor, interceptClient } from './intercept.ts'
export { fenceWrites, leaderFence } from './leader-fence.ts'
export { type OverlaidCache, ownWrites, trackWrites } from './own-writes.ts'
