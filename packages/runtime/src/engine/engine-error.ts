/** Outcomes of an apply that a controller may want to tell apart. */
import type { KubeObject } from '@reeve/kube'
import { RuntimeError } from '../runtime-error.ts'
import { describeObject } from './desired-object.ts'

/** An object of the desired name exists and belongs to nobody: taking it over could destroy somebody's work. */
export class NotControlledError extends RuntimeError {
  override readonly name = 'NotControlledError'

  constructor(owner: KubeObject, live: KubeObject) {
    super(
      'NOT_CONTROLLED',
      `${describeObject(live)} exists already and is not controlled by ${describeObject(owner)}: delete or rename it, ` +
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

/** Somebody else owns fields with other values, and the conflict policy is to leave them alone. */
export class FieldConflictError extends RuntimeError {
  override readonly name = 'FieldConflictError'

  constructor(object: KubeObject, fields: readonly string[], options?: ErrorOptions) {
    const list = fields.length === 0 ? 'fields' : fields.join(', ')
    super(
      'FIELD_CONFLICT',
      `${describeObject(object)}: ${list} belong to another manager; stop managing them there, or force the apply`,
      options,
    )
  }
}

/** The view was older than the cluster. Nothing was written; the next event brings a newer view. */
export class StaleViewError extends RuntimeError {
  override readonly name = 'StaleViewError'

  constructor(object: KubeObject, options?: ErrorOptions) {
    super('STALE_VIEW', `${describeObject(object)} changed since it was last seen; it is looked at again`, options)
  }
}
