/** Picks a version of a chart. */
import semver from 'semver'

/**
 * The newest of `versions` that `wanted` allows: an exact version, a range, or nothing for the newest release. A
 * pre-release is chosen only when it is requested. Anything but semantic versions is ignored.
 */
export function chooseVersion(versions: readonly string[], wanted: string | undefined): string | undefined {
  const exact = wanted === undefined ? undefined : versions.find((version) => version === wanted)
  if (exact !== undefined) return exact
  const valid = versions.filter((version) => semver.valid(version) !== null)
  const range = wanted === undefined || wanted === '' ? '*' : wanted
  return semver.maxSatisfying(valid, range) ?? undefined
}

/** Whether `wanted` is one version and not a range. */
export function isExactVersion(wanted: string | undefined): wanted is string {
  return wanted !== undefined && semver.valid(wanted) !== null
}
