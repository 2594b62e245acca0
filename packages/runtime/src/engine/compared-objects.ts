/** Remembers which live objects already carry what is desired, so that an unchanged object is compared once. */
import { hash } from 'node:crypto'
import type { KubeObject, Stored } from '@reeve/kube'

/**
 * Live objects are frozen and shared, so an object that is the same value as before has the same fields. Most reconciles
 * change nothing, and comparing field by field is most of what they cost. Forgotten together with the live object.
 */
export class ComparedObjects {
  readonly #desired = new WeakMap<Stored<KubeObject>, string>()

  /** Whether `live` was found to carry `desired`. */
  isCurrent(live: Stored<KubeObject>, desired: string): boolean {
    return this.#desired.get(live) === desired
  }

  /** Records that `live` carries `desired`. */
  remember(live: Stored<KubeObject>, desired: string): void {
    // One that is not frozen belongs to somebody who may change it.
    if (Object.isFrozen(live)) this.#desired.set(live, desired)
  }
}

/** Identifies what is desired. Depends on the order of properties, which is the same in every reconcile. */
export function desiredId(object: KubeObject, sole: readonly string[]): string {
  return hash('sha256', JSON.stringify([object, sole]), 'base64')
}
