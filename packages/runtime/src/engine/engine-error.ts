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
