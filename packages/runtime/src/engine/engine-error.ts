/** Errors of the engine that a controller may handle. */
import type { KubeObject, Resource } from '@reeve/kube'
import { RuntimeError } from '../runtime-error.ts'
import { describeObject } from './desired-object.ts'

/** An object of the desired name exists and has no controller: adopting it could destroy the work of others. */
export class NotControlledError extends RuntimeError {
  override readonly name = 'NotControlledError'

  constructor(owner: KubeObject, live: KubeObject) {
    super(
      'NOT_CONTROLLED',
      `${describeObject(live)} already exists and is not controlled by ${describeObject(owner)}: delete or rename it, ` +
        `or rename the ${owner.kind}`,
    )
  }
}

/** The cache drops which fields are the operator's own: every reconcile would write every object. */
export class MissingOwnFieldsError extends RuntimeError {
  override readonly name = 'MissingOwnFieldsError'

  constructor(resource: string, fieldManager: string) {
    super(
      'MISSING_OWN_FIELDS',
      `the cache of ${resource} drops metadata.managedFields of ${fieldManager}: create it with ` +
        `new Cache(client, { fieldManager: '${fieldManager}' }), or the informer with ` +
        `transform: cache.ownFields('${fieldManager}')`,
    )
  }
}

/** The view was older than the cluster. Nothing was written; the next event updates the view. */
export class StaleViewError extends RuntimeError {
  override readonly name = 'StaleViewError'

  constructor(object: KubeObject, options?: ErrorOptions) {
    super('STALE_VIEW', `${describeObject(object)} changed since it was last read; it is reconciled again`, options)
  }
}

/** A status has fields that its schema lacks, so that the server dropped them. The rest of it was written. */
export class UnknownStatusFieldsError extends RuntimeError {
  override readonly name = 'UnknownStatusFieldsError'
  /** Such as `status.phase`. */
  readonly fields: readonly string[]
  readonly #written: KubeObject

  constructor({ plural, group, version }: Resource, fields: readonly string[], written: KubeObject) {
    super(
      'UNKNOWN_STATUS_FIELDS',
      `the schema of ${plural}.${group} in ${version} lacks ${fields.join(', ')}: add it to the CRD, or install the CRD ` +
        'that belongs to this operator',
    )
    this.fields = fields
    this.#written = written
  }

  /** What the server kept. Not a property of its own, which logs would contain. */
  get written(): KubeObject {
    return this.#written
  }
}
