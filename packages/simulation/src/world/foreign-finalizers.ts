/** Finalizers of another client, which removes them itself once an object is being deleted. */
import { isConflict, type KubeObject } from '@reeve/kube'
import { FOREIGN_FINALIZER } from '../compare/snapshot.ts'
import { patchAsSomebody, read, type Target } from './targets.ts'
import type { World } from './world.ts'

/** How long the other client needs to clean up. */
const CLEAN_UP_MS = 1_000

type State = 'holds' | 'cleans up' | 'removes it' | 'lost'

/** What another client holds in one run. */
export class ForeignFinalizers {
  readonly #world: World
  readonly #onDeletion: (cleanUpMs: number) => void
  readonly #held = new Map<string, { readonly target: Target; state: State }>()

  readonly #errors: unknown[] = []

  /** @param onDeletion an object with a finalizer of the other client is being deleted */
  constructor(world: World, onDeletion: (cleanUpMs: number) => void) {
    this.#world = world
    this.#onDeletion = onDeletion
    world.cluster.api.subscribe(({ type, object }) => this.#follow(object as unknown as KubeObject, type === 'DELETED'))
  }

  /** Adds the finalizer. False when the object does not exist, or cannot be held anymore. */
  async add(target: Target): Promise<boolean> {
    const live = read(this.#world, target)
    const { uid = '', deletionTimestamp, finalizers = [] } = live?.metadata ?? {}
    if (live === undefined || deletionTimestamp !== undefined || this.#held.has(uid)) return false
    await patchAsSomebody(this.#world, target, { metadata: { finalizers: [...finalizers, FOREIGN_FINALIZER] } })
    this.#held.set(uid, { target, state: 'holds' })
    return true
  }

  /** Objects from which the operator removed the finalizer. */
  lost(): readonly string[] {
    if (this.#errors.length > 0) throw new AggregateError(this.#errors, 'a finalizer cannot be removed')
    return [...this.#held.values()]
      .filter(({ state }) => state === 'lost')
      .map(({ target }) => `the finalizer of another client is lost in ${target.resource} ${target.name}`)
  }

  #follow({ metadata }: KubeObject, isGone: boolean): void {
    const held = this.#held.get(metadata.uid ?? '')
    if (held === undefined || held.state === 'removes it' || held.state === 'lost') return
    if (isGone || !metadata.finalizers?.includes(FOREIGN_FINALIZER)) held.state = 'lost'
    else if (metadata.deletionTimestamp !== undefined && held.state === 'holds') {
      held.state = 'cleans up'
      this.#onDeletion(CLEAN_UP_MS)
      this.#world.clock.schedule(CLEAN_UP_MS, () => {
        if (held.state !== 'cleans up') return
        held.state = 'removes it'
        this.#remove(held.target).catch((error: unknown) => this.#errors.push(error))
      })
    }
  }

  async #remove(target: Target): Promise<void> {
    for (let isDone = false; !isDone; ) {
      const { resourceVersion, finalizers = [] } = read(this.#world, target)?.metadata ?? {}
      const kept = finalizers.filter((finalizer) => finalizer !== FOREIGN_FINALIZER)
      isDone = await patchAsSomebody(this.#world, target, { metadata: { resourceVersion, finalizers: kept } }).then(
        () => true,
        (error: unknown) => {
          if (isConflict(error)) return false
          throw error
        },
      )
    }
  }
}
