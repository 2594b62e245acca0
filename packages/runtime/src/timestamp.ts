/** Points in time as the API writes them. */

/**
 * Whole seconds, as `metav1.Time` is serialized: `2030-01-01T00:00:00Z`.
 *
 * @example
 * const creationTimestamp = formatTime(clock.now())
 */
export function formatTime(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`
}

/**
 * Six digits of a second, as `metav1.MicroTime` is serialized: `2030-01-01T00:00:00.000000Z`. Servers reject a
 * `MicroTime` without them.
 *
 * @example
 * const renewTime = formatMicroTime(clock.now())
 */
export function formatMicroTime(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 23)}000Z`
}
