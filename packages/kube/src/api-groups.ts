/** API groups, and which of them Kubernetes itself serves. */

/** With a domain. Others of `k8s.io`, such as `gateway.networking.k8s.io`, come with CRDs or aggregated servers. */
const WITH_DOMAIN: ReadonlySet<string> = new Set(
  [
    'admissionregistration',
    'apiextensions',
    'apiregistration',
    'authentication',
    'authorization',
    'certificates',
    'coordination',
    'discovery',
    'events',
    'flowcontrol.apiserver',
    'internal.apiserver',
    'networking',
    'node',
    'rbac.authorization',
    'resource',
    'scheduling',
    'storage',
    'storagemigration',
  ].map((name) => `${name}.k8s.io`),
)

/**
 * Whether Kubernetes itself serves a group, without a CRD. Groups of CRDs have a domain.
 *
 * @example
 * isBuiltInGroup('apps') // true
 * isBuiltInGroup('gateway.networking.k8s.io') // false
 */
export function isBuiltInGroup(group: string): boolean {
  return !group.includes('.') || WITH_DOMAIN.has(group)
}

/**
 * The group of an `apiVersion`.
 *
 * @example
 * groupOf('apps/v1') // 'apps'
 * groupOf('v1') // ''
 */
export function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
}
