/** Which release a Collector asks for. */
import type { ReleaseKey } from '@reeve/helm'
import type { CollectorSpec } from './api/collector.ts'

/**
 * The release of a spec: `<collector.name>-<tenant.instance>` in the namespace that `tenant.reference` names.
 *
 * @example
 * releaseKeyOf(spec) // { namespace: 'acme', name: 'metrics-eu1' }
 */
export function releaseKeyOf({ collector, tenant }: Pick<CollectorSpec, 'collector' | 'tenant'>): ReleaseKey {
  return { namespace: tenant.reference.toLowerCase(), name: `${collector.name}-${tenant.instance}` }
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
