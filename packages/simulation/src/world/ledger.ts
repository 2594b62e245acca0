/** Who made each object of a run, and what the operator did to objects that are not its own. */

import { isDeepStrictEqual } from 'node:util'
import type { EmbeddedCluster } from '@reeve/embedded-cluster'
import { changedEntries, type FieldChange } from '../compare/difference.ts'
import type { PlainObject } from '../operator-under-test.ts'
import { isBookkeeping, type RequestFacts } from './request-facts.ts'

/** Who acts on the cluster. All other writes are of the cluster's controllers. */
export type Actor = 'operator' | 'user' | 'another-client' | 'cluster'

/** One object in one incarnation. */
export interface LedgerEntry {
  /** `configmaps default/shop`. */
  readonly id: string
  readonly resource: string
  readonly creator: Actor
  /** It existed before the operator was started for the first time. */
  readonly isInitial: boolean
  /** Virtual milliseconds since the start of the run. */
  readonly createdMs: number
}

/** Something that the operator did to an object that it did not create. */
export interface ForeignChange {
  readonly entry: LedgerEntry
  readonly what: 'changed' | 'deleted'
  /** Empty for deletions. */
  readonly fields: readonly FieldChange[]
}

interface ClusterEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly resource: string
  readonly object: PlainObject
  readonly previous: PlainObject | undefined
}

interface Metadata {
  readonly uid?: string
  readonly namespace?: string
  readonly name?: string
  readonly resourceVersion?: string
  readonly deletionTimestamp?: string
}

/** Fields that every write changes, or only the server. */
const OF_THE_SERVER =
  /^metadata\.(managedFields|resourceVersion|generation|uid|creationTimestamp|deletionTimestamp|deletionGracePeriodSeconds)\b/

/** Events that wait to be claimed: a response follows its event immediately. */
const MAX_UNCLAIMED = 1_000

/** The first value of a field that the operator changed, and the one it wrote last. */
interface Touched {
  readonly original: unknown
  written: unknown
}

/**
 * Follows every write of a run. A write is known by the resourceVersion in its response; unclaimed writes were made by
 * a controller of the cluster.
 */
export class Ledger {
  readonly #elapsedMs: () => number
  readonly #unclaimed = new Map<string, { readonly event: ClusterEvent; readonly atMs: number }>()
  readonly #entries = new Map<string, LedgerEntry>()
  readonly #alive = new Set<string>()
  readonly #deleted = new Map<string, ClusterEvent>()
  readonly #foreign: ForeignChange[] = []
  readonly #effects: string[] = []
  /** Objects as the operator created them first, by id. */
  readonly #created = new Map<string, PlainObject>()
  /** By uid, then by field. */
  readonly #touched = new Map<string, Map<string, Touched>>()
  #hasBegun = false

  constructor(api: EmbeddedCluster['api'], elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs
    for (const { resource } of api.resources()) {
      for (const object of api.list(resource)) this.#enter(resource, object)
    }
    api.subscribe((event) => this.#receive(event))
  }

  /** The time of the run, as {@link claim} takes it. */
  get nowMs(): number {
    return this.#elapsedMs()
  }

  /** What exists from now on may be the operator's. */
  begin(): void {
    this.#hasBegun = true
  }

  /**
   * Notes who sent a write that succeeded.
   *
   * @param sentMs when it was sent
   */
  claim(
    actor: Actor,
    request: RequestFacts,
    status: number,
    response: PlainObject,
    sentMs: number = this.#elapsedMs(),
  ): void {
    if (!request.isWrite || status >= 300 || isBookkeeping(request.resource)) return
    const objects = request.verb === 'deletecollection' ? itemsOf(response) : [response]
    for (const object of objects) this.#claimObject(actor, request, object, sentMs)
  }

  /** Writes of the operator that changed something, as `configmaps default/shop`, in order. */
  get effects(): readonly string[] {
    return this.#effects
  }

  /** Objects that the operator created, by id, each in its first state. */
  get created(): ReadonlyMap<string, PlainObject> {
    return this.#created
  }

  /** How often an actor created each object, by id. */
  createdBy(actor: Actor): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const { id, creator } of this.#entries.values())
      if (creator === actor) counts.set(id, (counts.get(id) ?? 0) + 1)
    return counts
  }

  /** What is known about an object, also about a deleted one. */
  entry(uid: string): LedgerEntry | undefined {
    return this.#entries.get(uid)
  }

  isAlive(uid: string): boolean {
    return this.#alive.has(uid)
  }

  /** What the operator did to objects of other owners, in order. */
  get foreignChanges(): readonly ForeignChange[] {
    return this.#foreign
  }

  /** Objects that still exist and that the operator created after `sinceMs`. */
  madeByOperator(sinceMs: number): readonly LedgerEntry[] {
    return [...this.#alive]
      .flatMap((uid) => this.#entries.get(uid) ?? [])
      .filter(({ creator, createdMs }) => creator === 'operator' && createdMs > sinceMs)
  }

  /** Fields of existing objects of other owners that still have the value that the operator gave them. */
  leftInForeignObjects(): readonly { readonly entry: LedgerEntry; readonly field: string; readonly value: unknown }[] {
    return [...this.#touched].flatMap(([uid, fields]) => {
      const entry = this.#entries.get(uid)
      if (entry === undefined || !this.#alive.has(uid)) return []
      return [...fields]
        .filter(([, { original, written }]) => !isDeepStrictEqual(original, written))
        .map(([field, { written }]) => ({ entry, field, value: written }))
    })
  }

  /** Whether the object existed before the operator, or was created by a user or another client. */
  isForeign({ creator, isInitial }: LedgerEntry): boolean {
    return isInitial || creator === 'user' || creator === 'another-client'
  }

  #receive(event: ClusterEvent): void {
    const { uid = '', resourceVersion = '' } = metadataOf(event.object)
    if (event.type === 'ADDED') this.#enter(event.resource, event.object)
    if (event.type === 'DELETED') {
      this.#alive.delete(uid)
      this.#deleted.set(uid, event)
      return
    }
    this.#unclaimed.set(resourceVersion, { event, atMs: this.#elapsedMs() })
    if (this.#unclaimed.size > MAX_UNCLAIMED) {
      const [oldest] = this.#unclaimed.keys()
      if (oldest !== undefined) this.#unclaimed.delete(oldest)
    }
  }

  #enter(resource: string, object: PlainObject): void {
    const { uid = '', namespace, name } = metadataOf(object)
    const id = `${resource} ${namespace === undefined ? '' : `${namespace}/`}${name}`
    this.#entries.set(uid, {
      id,
      resource,
      creator: 'cluster',
      isInitial: !this.#hasBegun,
      createdMs: this.#elapsedMs(),
    })
    this.#alive.add(uid)
  }

  #claimObject(actor: Actor, request: RequestFacts, response: PlainObject, sentMs: number): void {
    const { uid = uidIn(response), resourceVersion = '' } = metadataOf(response)
    const entry = uid === undefined ? undefined : this.#entries.get(uid)
    if (entry === undefined || uid === undefined) return
    const unclaimed = this.#unclaimed.get(resourceVersion)
    this.#unclaimed.delete(resourceVersion)
    // A write that changes nothing returns the version of an earlier one, which was someone else's.
    const event = unclaimed !== undefined && unclaimed.atMs >= sentMs ? unclaimed.event : undefined
    if (actor === 'operator' && (event !== undefined || this.#deleted.has(uid))) this.#effects.push(entry.id)
    if (event?.type === 'ADDED') {
      this.#entries.set(uid, { ...entry, creator: actor })
      if (actor === 'operator' && !this.#created.has(entry.id)) this.#created.set(entry.id, event.object)
      return
    }
    const isDeletion = request.verb === 'delete' || request.verb === 'deletecollection'
    if (isDeletion && (this.#deleted.has(uid) || event !== undefined)) this.#deletedBy(actor, entry)
    else if (event?.previous !== undefined) this.#changedBy(actor, uid, entry, event.previous, event.object)
  }

  #deletedBy(actor: Actor, entry: LedgerEntry): void {
    if (actor === 'operator' && this.isForeign(entry)) this.#foreign.push({ entry, what: 'deleted', fields: [] })
  }

  #changedBy(actor: Actor, uid: string, entry: LedgerEntry, previous: PlainObject, current: PlainObject): void {
    if (!this.isForeign(entry)) return
    const fields = changedEntries(previous, current).filter(({ field }) => !OF_THE_SERVER.test(field))
    if (fields.length === 0) return
    const touched = this.#touched.get(uid) ?? new Map<string, Touched>()
    this.#touched.set(uid, touched)
    for (const { field, before, after } of fields) {
      const known = touched.get(field)
      // What another client writes afterwards is no longer the operator's.
      if (actor !== 'operator') touched.delete(field)
      else if (known === undefined) touched.set(field, { original: before, written: after })
      else known.written = after
    }
    if (actor === 'operator') this.#foreign.push({ entry, what: 'changed', fields })
  }
}

function metadataOf(object: PlainObject): Metadata {
  return (object.metadata ?? {}) as Metadata
}

/** A deletion that is over returns a Status that names the object. */
function uidIn(response: PlainObject): string | undefined {
  return (response.details as { readonly uid?: string } | undefined)?.uid
}

function itemsOf(response: PlainObject): readonly PlainObject[] {
  return (response.items as readonly PlainObject[] | undefined) ?? []
}
