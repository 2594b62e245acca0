/** Measures elapsed time in a way that a clock set forward or back cannot fool. */
import { performance } from 'node:perf_hooks'
import { type Clock, systemClock } from '@reeve/http'

/** A point in time on both clocks. */
export interface Instant {
  readonly wallMs: number
  readonly monotonicMs: number
}

/**
 * The wall clock jumps when it is set; the monotonic clock stops while a machine is suspended.
 * Leadership must be safe either way, so each decision uses the more conservative clock.
 */
export interface TimeSource {
  now(): Instant
  /** Elapsed time, rounded up: for deciding whether our own lease still holds. */
  atMostSince(instant: Instant): number
  /** Elapsed time, rounded down: for deciding whether another's lease has run out. */
  atLeastSince(instant: Instant): number
}

/**
 * A time source on `clock`. With a simulated clock both clocks are that one.
 *
 * @example
 * const time = timeSource(systemClock)
 * const renewed = time.now()
 * const isStillValid = time.atMostSince(renewed) < 10_000
 */
export function timeSource(clock: Clock, monotonicNow?: () => number): TimeSource {
  const monotonic = monotonicNow ?? (clock === systemClock ? () => performance.now() : () => clock.now())
  const wallSince = (instant: Instant) => clock.now() - instant.wallMs
  const monotonicSince = (instant: Instant) => monotonic() - instant.monotonicMs
  return {
    now: () => ({ wallMs: clock.now(), monotonicMs: monotonic() }),
    atMostSince: (instant) => Math.max(wallSince(instant), monotonicSince(instant)),
    atLeastSince: (instant) => Math.min(wallSince(instant), monotonicSince(instant)),
  }
}
