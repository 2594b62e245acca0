/** Whether the processors of this machine are idle for part of the time. */
import { cpus } from 'node:os'

/** Of all processors: with less, processes that start take so long that their operators look broken. */
const MIN_IDLE_SHARE = 0.3

/** Shorter periods say little. */
const MIN_PERIOD_MS = 500

/** Milliseconds of all processors since the start of the machine. */
export interface ProcessorTimes {
  readonly idle: number
  readonly total: number
}

/** Now, on this machine. */
function processorTimes(): ProcessorTimes {
  const all = cpus().map(({ times }) => times)
  return {
    idle: all.reduce((sum, { idle }) => sum + idle, 0),
    total: all.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0),
  }
}

/**
 * A function that tells whether the machine had time to spare lately. Not known yet counts as no.
 *
 * @param read what has passed so far
 */
export function spareTime(read: () => ProcessorTimes = processorTimes): () => boolean {
  let last = read()
  let isSpare = false
  return () => {
    const now = read()
    const total = now.total - last.total
    if (total < MIN_PERIOD_MS) return isSpare
    isSpare = (now.idle - last.idle) / total >= MIN_IDLE_SHARE
    last = now
    return isSpare
  }
}
