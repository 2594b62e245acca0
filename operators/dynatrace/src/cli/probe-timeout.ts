/** The time that a probe of the CSI driver may take, as an option. */
import { InvalidArgumentError } from 'commander'
import { parseDurationMs } from '../api/annotation-values.ts'

/** Shorter than the kubelet waits for the probe itself. */
export const DEFAULT_PROBE_TIMEOUT_MS = 9_000

/** Parses a duration such as `9s`. */
export function durationMs(text: string): number {
  const value = parseDurationMs(text)
  if (value === undefined || value <= 0) throw new InvalidArgumentError('It must be a duration such as 9s.')
  return value
}
