/** The collection of the API to which an object type belongs. */
import type { KubeObject } from './objects.ts'

/**
 * Describes one kind in one version: enough to build its URLs, together with the object's type. Typed clients,
 * informers and listers all start from a `Resource`.
 *
 * @example
 * interface Widget extends KubeObject { spec: { size: number } }
 * const Widgets = resource<Widget>({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true })
 */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
  /** Never set: only for the type. */
  readonly $type?: T
}

/** Declares a {@link Resource}. */
export function resource<T extends KubeObject>(description: Omit<Resource, '$type'>): Resource<T> {
  return Object.freeze({ ...description })
}

/** `apps/v1`, or `v1` for the core group: the `apiVersion` of objects of this resource. */
export function apiVersionOf(of: Pick<Resource, 'group' | 'version'>): string {
  return of.group === '' ? of.version : `${of.group}/${of.version}`
}
