/** Builds helm command lines: flags of Helm 3 and 4, and no secrets, because process arguments are public. */
import { isAbsolute } from 'node:path'
import { InvalidHelmRequestError } from '../errors.ts'
import type { ReleaseKey } from '../release/release.ts'
import type { DeployOptions } from './helm-driver.ts'

/** Which flags are understood. */
export type HelmMajor = 3 | 4

/** Helm's own limit: `sh.helm.release.v1.<name>.v<revision>` must be a valid name. */
const MAX_RELEASE_NAME_LENGTH = 53

const RELEASE_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/** Rejects names that Helm would reject or take for a flag. */
export function checkRelease({ namespace, name }: ReleaseKey): void {
  if (name.length > MAX_RELEASE_NAME_LENGTH || !RELEASE_NAME.test(name)) {
    throw new InvalidHelmRequestError(
      `release name "${name}" is not valid: use at most ${MAX_RELEASE_NAME_LENGTH} lower-case letters, digits, "-" and "."`,
    )
  }
  checkNamespace(namespace)
}

/** Rejects invalid names of namespaces. */
export function checkNamespace(namespace: string): void {
  if (!NAMESPACE.test(namespace)) {
    throw new InvalidHelmRequestError(`"${namespace}" is not a valid name of a namespace`)
  }
}

/** Rejects anything but an absolute path: a relative one could be a flag, or the name of a chart in some repository. */
export function checkChartPath(path: string): void {
  if (!isAbsolute(path)) {
    throw new InvalidHelmRequestError(`chart path "${path}" is not absolute: resolve the chart first`)
  }
}

/** Rejects invalid revisions. */
export function checkRevision(revision: number): void {
  if (!Number.isSafeInteger(revision) || revision < 1) {
    throw new InvalidHelmRequestError(`revision ${revision} is not valid: revisions start at 1`)
  }
}

/**
 * How long Helm may wait, within a deadline for the whole command. Helm must time out first: it then records the
 * failure, while a killed helm leaves the release pending. Undoing a failure may take as long again.
 */
export function helmTimeout(timeoutMs: number, mayWaitTwice: boolean): string {
  const shareMs = timeoutMs * (mayWaitTwice ? 0.4 : 0.8)
  return `--timeout=${Math.max(1, Math.floor(shareMs))}ms`
}

/** Flags of an install or upgrade. Values come by standard input. */
export function deployFlags(major: HelmMajor, options: DeployOptions, timeoutMs: number): readonly string[] {
  const { wait = false, rollbackOnFailure = false, labels, description, forceConflicts, takeOwnership } = options
  return [
    '--values=-',
    '--output=json',
    helmTimeout(timeoutMs, rollbackOnFailure),
    ...(wait ? ['--wait'] : []),
    ...(rollbackOnFailure ? [major === 3 ? '--atomic' : '--rollback-on-failure'] : []),
    ...(labels && Object.keys(labels).length > 0 ? [`--labels=${labelPairs(labels)}`] : []),
    ...(description !== undefined ? [`--description=${description}`] : []),
    ...conflictFlags(major, forceConflicts),
    ...(takeOwnership ? ['--take-ownership'] : []),
  ]
}

/**
 * Flags that take fields over. Helm 4 keeps using client-side apply for what Helm 3 installed, which cannot force conflicts,
 * so server-side apply is requested.
 */
export function conflictFlags(major: HelmMajor, isForced: boolean | undefined): readonly string[] {
  return isForced && major === 4 ? ['--force-conflicts', '--server-side=true'] : []
}

function labelPairs(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => {
      if (!/^[\w./-]+$/.test(key) || !/^[\w.-]*$/.test(value)) {
        throw new InvalidHelmRequestError(`label ${key}=${value} of a release is not valid`)
      }
      return `${key}=${value}`
    })
    .join()
}
