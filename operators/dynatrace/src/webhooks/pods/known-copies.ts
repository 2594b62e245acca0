/** Remembers for seconds which copies of Secrets exist. */
import { type Clock, systemClock } from '@reeve/http'
import { BoundedMap } from '../../bounded-map.ts'

/** As long as it takes to create the pods of a Deployment. */
const KEPT_MS = 5_000
const MAX_KEPT = 5_000

/** The uid of a namespace, and the name of a copy in it. */
export interface CopyKey {
  readonly namespaceUid: string
  readonly name: string
}

/**
 * Copies that were seen a moment ago: the pods of one namespace are created together, and all but the first need no
 * requests for them. Only existence is remembered, never absence or content.
 *
 * *Guarantee*: by the uid of its namespace, so that a namespace which was deleted and created again starts anew.
 *
 * *Caveat*: a pod that is admitted within seconds of a manual deletion of the copy waits until the operator has restored
 * it, like one that was admitted just before the deletion.
 */
export class KnownCopies {
  readonly #clock: Clock
  readonly #untilMs = new BoundedMap<string, number>(MAX_KEPT)

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
  }

  has(key: CopyKey): boolean {
    return (this.#untilMs.get(textOf(key)) ?? 0) > this.#clock.now()
  }

  add(key: CopyKey): void {
    this.#untilMs.set(textOf(key), this.#clock.now() + KEPT_MS)
  }
}

/** Neither a uid nor the name of a Secret has a slash. */
const textOf = ({ namespaceUid, name }: CopyKey): string => `${namespaceUid}/${name}`
