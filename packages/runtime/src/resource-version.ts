/**
 * Which of two resourceVersions is the newer. Within one resource they are decimal numbers that only grow (since
 * Kubernetes 1.35 that is promised, before it was merely always true).
 */

/**
 * Whether a resourceVersion can be ordered at all. An aggregated API server may use opaque tokens; for those the
 * cache trusts the order of arrival and does not overlay own writes.
 */
export function isOrdered(resourceVersion: string | undefined): resourceVersion is string {
  return resourceVersion !== undefined && /^[1-9][0-9]*$/.test(resourceVersion)
}

/**
 * True when `a` is newer than `b`. Both must be {@link isOrdered}. Compared as text: numbers beyond 2^53 stay exact.
 *
 * @example
 * isNewer('1000', '999') // true
 */
export function isNewer(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length
}

/** The newer of two versions, either of which may be unknown. */
export function newestOf(a: string | undefined, b: string | undefined): string | undefined {
  if (!isOrdered(a)) return isOrdered(b) ? b : a
  return isOrdered(b) && isNewer(b, a) ? b : a
}
