/** Remembers how the server rewrites what is applied, so that a rewritten value is not applied forever. */
import type { KubeObject, Stored } from '@reeve/kube'
import type { FieldDifference } from '../field-ownership/compare-fields.ts'
import { digest } from '../json/json-equal.ts'

/**
 * Some values never read back as they were written: `0.5` CPU becomes `500m`, a mutating webhook moves an image to
 * a mirror. What still differs right after a successful write is such a rewrite; it is accepted as long as both the
 * desired object and the rewritten values stay the same.
 *
 * In memory only: after a restart one apply without effect learns it again. Bounded by `capacity`.
 */
export class AcceptedDifferences {
  readonly #byUid = new Map<string, string>()
  readonly #capacity: number

  constructor(capacity = 10_000) {
    this.#capacity = capacity
  }

  /** Records how the server stored `object`. */
  accept(live: Stored<KubeObject>, object: KubeObject, differences: readonly FieldDifference[]): void {
    const { uid } = live.metadata
    this.#byUid.delete(uid)
    if (differences.length === 0) return
    if (this.#byUid.size >= this.#capacity) {
      const [oldest] = this.#byUid.keys()
      if (oldest !== undefined) this.#byUid.delete(oldest)
    }
    this.#byUid.set(uid, fingerprint(object, differences))
  }

  /** Whether `differences` are exactly those that the server makes of `object`. */
  covers(live: Stored<KubeObject>, object: KubeObject, differences: readonly FieldDifference[]): boolean {
    const known = this.#byUid.get(live.metadata.uid)
    return known !== undefined && known === fingerprint(object, differences)
  }
}

function fingerprint(object: KubeObject, differences: readonly FieldDifference[]): string {
  return digest({ object, differences })
}
