/** Indexes of objects, kept up to date by the events of the cluster. */
import type { ClusterApi, ClusterEvent } from '../api/cluster-api.ts'
import type { OnError } from './control-loop.ts'
import { type ClusterObject, keyOf } from './kinds/meta.ts'
import { asObject } from './resource-client.ts'
import type { SimulatorController } from './simulator-controller.ts'

/** The values under which an object is indexed; none to leave it out. */
export type ValuesOf<T> = (object: T) => readonly string[]

/** Objects of one resource by a derived value. */
export interface Lookup<T> {
  /** Returns a copy, which does not change while the caller iterates and awaits. */
  get(value: string): T[]
  has(value: string): boolean
}

interface MutableLookup extends Lookup<ClusterObject> {
  readonly valuesOf: ValuesOf<ClusterObject>
  readonly byValue: Map<string, Map<string, ClusterObject>>
}

type Listener = (event: ClusterEvent) => void

/**
 * One subscription for all controllers. Lookups are updated before listeners are called, so that a listener never sees
 * a view older than the event it handles.
 *
 * *Assumption*: lookups and listeners are registered before `start`.
 */
export class ClusterView implements SimulatorController {
  readonly name = 'cluster-view'
  /** Always idle: it only acts while an event is delivered. */
  readonly isIdle = true
  readonly #api: ClusterApi
  readonly #onError: OnError
  readonly #lookups = new Map<string, MutableLookup[]>()
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #listenersToAll = new Set<Listener>()
  #unsubscribe: (() => void) | undefined

  constructor(api: ClusterApi, onError: OnError) {
    this.#api = api
    this.#onError = onError
  }

  /** A lookup over all objects of `resource`. */
  lookup<T extends ClusterObject>(resource: string, valuesOf: ValuesOf<T>): Lookup<T> {
    const byValue = new Map<string, Map<string, T>>()
    const lookup = {
      valuesOf,
      byValue,
      get: (value: string) => [...(byValue.get(value)?.values() ?? [])],
      has: (value: string) => byValue.has(value),
    }
    const lookups = this.#lookups.get(resource) ?? []
    // The resource determines the type of its objects, which a map from resource names cannot express.
    lookups.push(lookup as unknown as MutableLookup)
    this.#lookups.set(resource, lookups)
    return lookup
  }

  /** Calls `listener` for every event of `resource`. Returns the function that unsubscribes it. */
  on(resource: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(resource) ?? new Set()
    listeners.add(listener)
    this.#listeners.set(resource, listeners)
    return () => listeners.delete(listener)
  }

  /** Calls `listener` for every event of every resource. */
  onAny(listener: Listener): () => void {
    this.#listenersToAll.add(listener)
    return () => this.#listenersToAll.delete(listener)
  }

  start(): void {
    if (this.#unsubscribe !== undefined) return
    for (const [resource, lookups] of this.#lookups) {
      for (const lookup of lookups) lookup.byValue.clear()
      for (const object of this.#api.list(resource)) replace(lookups, undefined, asObject(object))
    }
    this.#unsubscribe = this.#api.subscribe((event) => this.#receive(event))
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
  }

  /** An error of a listener must not fail the write. */
  #receive(event: ClusterEvent): void {
    try {
      this.#handle(event)
    } catch (error) {
      this.#onError(this.name, `${event.resource} ${keyOf(asObject(event.object))}`, error)
    }
  }

  #handle(event: ClusterEvent): void {
    const lookups = this.#lookups.get(event.resource)
    if (lookups !== undefined) {
      const object = asObject(event.object)
      const previous = event.previous === undefined ? undefined : asObject(event.previous)
      if (event.type === 'DELETED') replace(lookups, previous ?? object, undefined)
      else replace(lookups, previous, object)
    }
    for (const listener of this.#listeners.get(event.resource) ?? []) listener(event)
    for (const listener of this.#listenersToAll) listener(event)
  }
}

function replace(
  lookups: readonly MutableLookup[],
  before: ClusterObject | undefined,
  after: ClusterObject | undefined,
): void {
  for (const { valuesOf, byValue } of lookups) {
    const values = after === undefined ? [] : valuesOf(after)
    if (before !== undefined) {
      for (const value of valuesOf(before)) if (!values.includes(value)) remove(byValue, value, keyOf(before))
    }
    if (after === undefined) continue
    for (const value of values) {
      const objects = byValue.get(value)
      if (objects === undefined) byValue.set(value, new Map([[keyOf(after), after]]))
      else objects.set(keyOf(after), after)
    }
  }
}

function remove(byValue: Map<string, Map<string, ClusterObject>>, value: string, key: string): void {
  const objects = byValue.get(value)
  objects?.delete(key)
  if (objects?.size === 0) byValue.delete(value)
}
