/** Compares two manifests object by object. */

/** One object that would change. */
export interface ManifestChange {
  readonly change: 'create' | 'update' | 'delete'
  readonly apiVersion: string
  readonly kind: string
  /** Absent when the manifest leaves it to the release, and for objects of the cluster. */
  readonly namespace?: string
  readonly name: string
  /** Paths of the fields that differ, such as `spec.replicas`; never their values. Empty unless `update`. */
  readonly fields: readonly string[]
}
