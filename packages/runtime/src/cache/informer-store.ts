/**
 * What an informer knows: the objects as the watch shows them, with this process's own newer writes laid over them.
 *
 * After a write returns, nothing in the process may act on an older view of that object, yet its watch event can be
 * seconds away. So each write is kept as *own* version of its key until the watch has passed it. The watch delivers
 * events strictly in the order of resourceVersions, so "the watch has passed version V" is one comparison, whatever
 * order responses and events arrive in, and whichever key the event was about.
 *
 * The response to a deletion usually has no version, but it has the uid, and a uid is never reused: what is known to
 * be *dead* is hidden even when a late event still shows it.
 */
import { formatKey, type KubeObject, type Stored } from '@reeve/kube'
import { Heap, type HeapEntry } from '../queue/heap.ts'
import { isNewer, isOrdered, newestOf } from '../resource-version.ts'
import { ObjectStore } from './object-store.ts'

/** How many dead uids are remembered; far more than own deletions can be in flight. */
const MAX_DEAD_UIDS = 10_000

/** What a watch event or a new list changed, compared with what the watch, or an own write, showed before. */
export type Change<T extends KubeObject> =
  | { readonly type: 'added'; readonly object: Stored<T>; readonly isOwn?: boolean }
  | { readonly type: 'modified'; readonly previous: Stored<T>; readonly object: Stored<T>; readonly isOwn?: boolean }
  | { readonly type: 'deleted'; readonly object: Stored<T>; readonly isFinalStateUnknown: boolean }

/** The last own write of a key; `value` is undefined when the key is absent after it. */
interface OwnVersion<T extends KubeObject> {
  readonly key: string
  readonly uid: string
  readonly version: string
  readonly value: Stored<T> | undefined
  readonly sequence: number
}

/** A key whose readers see something else than what the watch shows. */
interface Shadow<T extends KubeObject> {
  /** What the watch shows. */
  watched: Stored<T> | undefined
  own: HeapEntry<OwnVersion<T>> | undefined
}

/** State recorded when a deletion is sent, for {@link InformerStore.recordDeletion}. */
export interface DeletionStart {
  readonly sequence: number
  /** The object that the watch showed at that time: if another one was deleted, this one was deleted before. */
  readonly watchedUid: string | undefined
}

/** See the comment at the top of this file. Pure bookkeeping: no clock, no input or output. */
export class InformerStore<T extends KubeObject> {
  /** What readers see. Written only by this class. */
  readonly view = new ObjectStore<T>()
  readonly #shadows = new Map<string, Shadow<T>>()
  readonly #ownByVersion = new Heap<OwnVersion<T>>((a, b) => isNewer(b.version, a.version))
  /** Uids of deleted objects, with the sequence at which the deletion became known. */
  readonly #dead = new Map<string, number>()
  #seen: string | undefined
  #removed: string | undefined
  #sequence = 0

  /** Everything up to this resourceVersion has arrived; a watch resumes here. */
  get seenVersion(): string | undefined {
    return this.#seen
  }

  /**
   * The version as of which everything that is absent here was absent: that of the last deletion or list. Undefined while
   * the watch has not shown an own deletion, whose version is not known.
   */
  get removedVersion(): string | undefined {
    for (const key of this.#shadows.keys()) if (this.view.get(key) === undefined) return undefined
    return this.#removed
  }

  /** Own writes that the watch has not passed yet. */
  get ownWrites(): number {
    return this.#ownByVersion.size
  }

  /** A point in the order of own writes: those recorded later may be missing from a list that begins now. */
  get sequence(): number {
    return this.#sequence
  }

  /** The newest version anything here proves to exist; a list that is older than this comes from a stale server. */
  get newestVersion(): string | undefined {
    let newest = this.#seen
    for (const { version } of this.#ownByVersion.values()) newest = newestOf(newest, version)
    return newest
  }

  /** Applies a watch event. Events older than the stored state are ignored. */
  applyEvent(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Stored<T>): readonly Change<T>[] {
    const key = formatKey(object.metadata)
    const previous = this.watched(key)
    const { uid, resourceVersion } = object.metadata
    if (type === 'DELETED') {
      this.#removed = newestOf(this.#removed, resourceVersion)
      if (previous === undefined || (this.#hasSeen(resourceVersion) && !isSameOrOlder(previous, object))) {
        this.#advance(resourceVersion)
        return []
      }
      this.#setWatched(key, undefined)
      this.#advance(resourceVersion)
      const isOther = previous.metadata.uid !== uid
      return [{ type: 'deleted', object: isOther ? previous : object, isFinalStateUnknown: isOther }]
    }
    if (this.#hasSeen(resourceVersion)) return []
    // Readers have seen this very state since the write returned.
    const isOwn = this.#shadows.get(key)?.own?.value.version === resourceVersion
    this.#setWatched(key, object)
    this.#advance(resourceVersion)
    const changes = changesBetween(previous, object)
    return isOwn ? changes.map((change) => ({ ...change, isOwn })) : changes
  }

  /** Applies a bookmark: everything up to this version has arrived. */
  bookmark(resourceVersion: string): void {
    this.#advance(resourceVersion)
  }

  /**
   * Applies a complete list.
   *
   * @param begunAt {@link InformerStore.sequence} when the list was requested: own writes before that are part of it,
   * whatever their version says.
   */
  replace(objects: ReadonlyMap<string, Stored<T>>, resourceVersion: string, begunAt: number): readonly Change<T>[] {
    const changes: Change<T>[] = []
    const shownBefore = new Map([...this.#ownByVersion.values()].map(({ key }) => [key, this.view.get(key)]))
    for (const [key, previous] of [...this.watchedEntries()]) {
      if (objects.has(key)) continue
      this.#setWatched(key, undefined)
      changes.push({ type: 'deleted', object: previous, isFinalStateUnknown: true })
    }
    for (const [key, object] of objects) {
      const knownDead = this.#dead.get(object.metadata.uid)
      // The server was restored from a backup: deleted objects exist again.
      if (knownDead !== undefined && knownDead <= begunAt) this.#dead.delete(object.metadata.uid)
      const previous = this.watched(key)
      const change = changesBetween(previous, object)
      if (change.length > 0) this.#setWatched(key, object)
      changes.push(...change)
    }
    for (const own of [...this.#ownByVersion.values()]) {
      if (own.sequence <= begunAt) this.#dropOwn(own.key)
    }
    // Set, not advanced: after a restore the version may be lower than before.
    this.#seen = resourceVersion
    this.#removed = resourceVersion
    this.#advance(resourceVersion)
    for (const key of [...this.#shadows.keys()]) this.#refresh(key)
    return [...changes, ...this.#untold(shownBefore, changes)]
  }

  /**
   * Own writes that readers saw and no longer see, although the watch shows no change: an object that was created here
   * and deleted before the watch could show it. Handlers are called as if the watch had shown it, so that it is
   * reconciled.
   */
  #untold(shownBefore: ReadonlyMap<string, Stored<T> | undefined>, told: readonly Change<T>[]): readonly Change<T>[] {
    if (shownBefore.size === 0) return []
    const toldOf = new Set(told.map(({ object }) => formatKey(object.metadata)))
    return [...shownBefore].flatMap(([key, before]) => {
      const now = this.view.get(key)
      return toldOf.has(key) || now === before ? [] : [...changesBetween(now, before), ...changesBetween(before, now)]
    })
  }

  /**
   * Lays the response of an own write over the watch.
   *
   * @param value what readers should see: undefined if the written object does not match the selection.
   */
  recordWrite(written: Stored<T>, value: Stored<T> | undefined): void {
    const { uid, resourceVersion: version } = written.metadata
    if (!isOrdered(version) || this.#hasSeen(version) || this.#dead.has(uid)) return
    const key = formatKey(written.metadata)
    const earlier = this.#shadows.get(key)?.own?.value
    if (earlier !== undefined && !isNewer(version, earlier.version)) return
    this.#sequence++
    this.#setOwn({ key, uid, version, value, sequence: this.#sequence })
  }

  /**
   * What readers have seen since an own write that produced this very version. Taking it over instead of the object of the
   * event spares preparing that one, and what is remembered of the object stays valid.
   */
  ownWrite({ metadata }: Stored<T>): Stored<T> | undefined {
    const own = this.#shadows.get(formatKey(metadata))?.own?.value
    return own?.uid === metadata.uid && own.version === metadata.resourceVersion ? own.value : undefined
  }

  /** Call this when a deletion is sent. */
  beginDeletion(key: string): DeletionStart {
    return { sequence: this.#sequence, watchedUid: this.watched(key)?.metadata.uid }
  }

  /**
   * Hides what an own deletion removed.
   *
   * @param uid of the deleted object, if the response has it
   * @param version of the deletion, or of the object before it, where known: everything older is hidden, too
   */
  recordDeletion(key: string, start: DeletionStart, uid: string | undefined, version?: string): void {
    this.#sequence++
    if (uid !== undefined) this.#markDead(uid)
    if (start.watchedUid !== undefined) this.#markDead(start.watchedUid)
    const own = this.#shadows.get(key)?.own?.value
    const isOlder =
      own !== undefined && (own.sequence <= start.sequence || newestOf(own.version, version) !== own.version)
    if (own !== undefined && (own.uid === uid || isOlder)) {
      this.#markDead(own.uid)
      const newest = newestOf(own.version, version) ?? own.version
      this.#setOwn({ ...own, version: newest, value: undefined, sequence: this.#sequence })
    } else if (own === undefined && uid !== undefined && isOrdered(version) && !this.#hasSeen(version)) {
      this.#setOwn({ key, uid, version, value: undefined, sequence: this.#sequence })
    }
    this.#shadowIfDead(key)
    this.#refresh(key)
  }

  /** What the watch shows for a key, without own writes. */
  watched(key: string): Stored<T> | undefined {
    const shadow = this.#shadows.get(key)
    return shadow === undefined ? this.view.get(key) : shadow.watched
  }

  /** Everything the watch shows, without own writes: what handlers have been called with. */
  *watchedEntries(): Iterable<readonly [string, Stored<T>]> {
    for (const key of this.view.keys()) {
      const object = this.#shadows.has(key) ? undefined : this.view.get(key)
      if (object !== undefined) yield [key, object]
    }
    for (const [key, { watched }] of this.#shadows) if (watched !== undefined) yield [key, watched]
  }

  #setWatched(key: string, object: Stored<T> | undefined): void {
    const shadow = this.#shadows.get(key)
    if (shadow !== undefined) {
      shadow.watched = object
      this.#refresh(key)
    } else if (object === undefined) {
      this.view.delete(key)
    } else {
      this.view.set(key, object)
      this.#shadowIfDead(key)
    }
  }

  #setOwn(own: OwnVersion<T>): void {
    const shadow = this.#shadows.get(own.key) ?? { watched: this.view.get(own.key), own: undefined }
    this.#forgetOwn(shadow)
    shadow.own = this.#ownByVersion.push(own)
    this.#shadows.set(own.key, shadow)
    this.#refresh(own.key)
  }

  #dropOwn(key: string): void {
    const shadow = this.#shadows.get(key)
    if (shadow?.own === undefined) return
    this.#forgetOwn(shadow)
    this.#refresh(key)
  }

  #forgetOwn(shadow: Shadow<T>): void {
    if (shadow.own === undefined) return
    this.#ownByVersion.remove(shadow.own)
    shadow.own = undefined
  }

  #shadowIfDead(key: string): void {
    const object = this.view.get(key)
    if (object === undefined || this.#shadows.has(key) || !this.#dead.has(object.metadata.uid)) return
    this.#shadows.set(key, { watched: object, own: undefined })
    this.view.delete(key)
  }

  /** Shows what follows from a key's shadow, and removes the shadow when nothing is hidden anymore. */
  #refresh(key: string): void {
    const shadow = this.#shadows.get(key)
    if (shadow === undefined) return
    const { watched, own } = shadow
    const isDead = watched !== undefined && this.#dead.has(watched.metadata.uid)
    if (own === undefined && !isDead) this.#shadows.delete(key)
    const shown = own !== undefined ? own.value.value : isDead ? undefined : watched
    if (shown === undefined) this.view.delete(key)
    else this.view.set(key, shown)
  }

  /** The watch has passed `version`: own writes up to it are part of what it shows. */
  #advance(version: string): void {
    if (isOrdered(version) && isOrdered(this.#seen) && isNewer(this.#seen, version)) return
    this.#seen = version
    for (let own = this.#ownByVersion.peek(); own !== undefined; own = this.#ownByVersion.peek()) {
      if (!this.#hasSeen(own.version)) return
      this.#dropOwn(own.key)
    }
  }

  #hasSeen(version: string): boolean {
    return isOrdered(this.#seen) && isOrdered(version) && !isNewer(version, this.#seen)
  }

  #markDead(uid: string): void {
    this.#dead.delete(uid)
    this.#dead.set(uid, this.#sequence)
    if (this.#dead.size <= MAX_DEAD_UIDS) return
    for (const oldest of this.#dead.keys()) {
      this.#dead.delete(oldest)
      return
    }
  }
}

function changesBetween<T extends KubeObject>(
  previous: Stored<T> | undefined,
  object: Stored<T> | undefined,
): readonly Change<T>[] {
  if (previous === undefined) return object === undefined ? [] : [{ type: 'added', object }]
  if (object === undefined) return [{ type: 'deleted', object: previous, isFinalStateUnknown: true }]
  if (previous.metadata.uid !== object.metadata.uid) {
    return [
      { type: 'deleted', object: previous, isFinalStateUnknown: true },
      { type: 'added', object },
    ]
  }
  return previous.metadata.resourceVersion === object.metadata.resourceVersion
    ? []
    : [{ type: 'modified', previous, object }]
}

/** Some servers send a deletion with the version of the object's last change instead of the deletion's own. */
function isSameOrOlder<T extends KubeObject>(known: Stored<T>, deleted: Stored<T>): boolean {
  return (
    known.metadata.uid === deleted.metadata.uid &&
    !isNewer(known.metadata.resourceVersion, deleted.metadata.resourceVersion)
  )
}
