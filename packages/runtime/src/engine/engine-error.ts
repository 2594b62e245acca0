/** Errors of the engine that a controller may handle. */
import type { KubeObject } from '@reeve/kube'
import { describeObject, RuntimeError } from '../runtime-error.ts'

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
