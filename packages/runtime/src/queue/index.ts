/** @module A work queue: one worker per key, delays, back-off and priorities. Independent of Kubernetes. */
export { type BackoffOptions, DEFAULT_BACKOFF, exponentialBackoff } from './backoff.ts'
export { describeReason, type Reason, type ReasonEvent } from './reason.ts'
export { TokenBucket, type TokenBucketOptions } from './token-bucket.ts'
export type { AddOptions, Priority, WorkItem, WorkQueueOptions } from './work-item.ts'
export { WorkQueue } from './work-queue.ts'
