/** Which release a Collector declares. */
import type { ReleaseKey } from '@reeve/helm'
import type { CollectorSpec } from './api/collector.ts'

const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/** Helm appends suffixes to the names of releases. */
export const MAX_RELEASE_NAME_LENGTH = 53

const RELEASE_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

/**
 * Whether a release can exist. A status may have been written by other clients, and a Collector may be deleted that was
 * never valid: such names must not become part of a path, a selector or an account.
 */
export function isReleaseKey({ namespace, name }: ReleaseKey): boolean {
  return isNamespaceName(namespace) && name.length <= MAX_RELEASE_NAME_LENGTH && RELEASE_NAME.test(name)
}

/** Whether a text can be the name of a namespace. */
export function isNamespaceName(text: string): boolean {
  return NAMESPACE.test(text)
}

/**
 * The release of a spec: `<collector.name>-<tenant.instance>` in the namespace that `tenant.reference` names.
 *
 * @example
 * releaseKeyOf(spec) // { namespace: 'acme', name: 'metrics-eu1' }
 */
export function releaseKeyOf(spec: Pick<CollectorSpec, 'collector' | 'tenant'>): ReleaseKey {
  return { namespace: spec.tenant.reference.toLowerCase(), name: releaseNameOf(spec) }
}

/** The name alone, for a spec whose reference is not valid. */
export function releaseNameOf({ collector, tenant }: Pick<CollectorSpec, 'collector' | 'tenant'>): string {
  return `${collector.name}-${tenant.instance}`
}

/**
 * One text per release, for maps and indexes.
 *
 * @example
 * formatRelease({ namespace: 'acme', name: 'metrics-eu1' }) // acme/metrics-eu1
 */
export function formatRelease({ namespace, name }: ReleaseKey): string {
  return `${namespace}/${name}`
}
