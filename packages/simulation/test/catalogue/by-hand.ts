/** Operators of the catalogue that do not use the runtime: lists, watches, a queue and retries hand-written. */
import { ConfigMaps, type KubeClient, type KubeObject, type Resource, type Stored } from '@reeve/kube'
import type { OperatorUnderTest, Place } from '../../src/index.ts'
import { FULL, type Note, NoteCrd, Notes } from './notes.ts'

export type ConfigMap = Stored<typeof ConfigMaps extends Resource<infer T> ? T : never>

/** The input of a reconcile. */
export interface Hand {
  readonly name: string
  readonly client: KubeClient
  readonly place: Place
  /** What the watches have shown so far. */
  readonly notes: ReadonlyMap<string, Stored<Note>>
  readonly configMaps: ReadonlyMap<string, ConfigMap>
  /** What the last event of the Note was. */
  readonly lastEvent: string | undefined
}

/** How such an operator differs from a good one. */
export interface Habits {
  readonly reconcile: (hand: Hand) => Promise<unknown>
  /** Runs once both views are complete. */
  readonly atStart?: (hand: Hand) => Promise<void>
  /** What it does when a watch fails. @default list again */
  readonly afterWatchError?: 'relist' | 'resume'
  /** Whether a silent stream is closed. @default true */
  readonly noticesSilence?: boolean
  /** Whether it stops when its signal aborts. @default true */
  readonly stops?: boolean
  /** Whether a reconcile that failed is repeated. @default true */
  readonly retries?: boolean
}

const WATCH_SECONDS = 60

/** Follows Notes and ConfigMaps of one namespace and reconciles the Note that an object is named after. */
export function byHand(name: string, habits: Habits, more: Partial<OperatorUnderTest> = {}): OperatorUnderTest {
  return {
    name,
    crds: [NoteCrd],
    exampleSpecs: [FULL],
    start: (place, client) => ({ run: (signal) => new Loop(place, client, habits).run(signal) }),
    ...more,
  }
}

class Loop {
  readonly #place: Place
  readonly #client: KubeClient
  readonly #habits: Habits
  readonly #notes = new Map<string, Stored<Note>>()
  readonly #configMaps = new Map<string, ConfigMap>()
  readonly #lastEvents = new Map<string, string>()
  readonly #dirty = new Map<string, number>()
  #wake: () => void = () => undefined

  constructor(place: Place, client: KubeClient, habits: Habits) {
    this.#place = place
    this.#client = client
    this.#habits = habits
  }

  async run(signal: AbortSignal): Promise<void> {
    const stopped = this.#habits.stops === false ? new AbortController().signal : signal
    const synced = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
    const follow = [
      this.#follow(Notes, this.#notes, stopped, synced[0].resolve),
      this.#follow(ConfigMaps, this.#configMaps, stopped, synced[1].resolve),
    ]
    stopped.addEventListener('abort', () => this.#wake())
    await Promise.race([Promise.all(synced.map(({ promise }) => promise)), Promise.all(follow)])
    if (!stopped.aborted) await this.#habits.atStart?.(this.#hand('')).catch(() => undefined)
    while (!stopped.aborted) await this.#work(stopped)
    await Promise.all(follow)
  }

  async #work(signal: AbortSignal): Promise<void> {
    const [name] = this.#dirty.keys()
    if (name === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      return
    }
    const failures = this.#dirty.get(name) ?? 0
    this.#dirty.delete(name)
    if (signal.aborted) return
    try {
      await this.#habits.reconcile(this.#hand(name))
    } catch (error) {
      this.#place.logger.warn({ err: error }, 'reconcile failed')
      if (this.#habits.retries !== false)
        setTimeout(() => this.#mark(name, failures + 1), Math.min(60_000, 500 * 2 ** failures))
    }
  }

  #hand(name: string): Hand {
    const [place, client] = [this.#place, this.#client]
    const lastEvent = this.#lastEvents.get(name)
    return { name, client, place, notes: this.#notes, configMaps: this.#configMaps, lastEvent }
  }

  #mark(name: string, failures = 0): void {
    this.#dirty.set(name, failures)
    this.#wake()
  }

  async #follow<T extends KubeObject>(
    resource: Resource<T>,
    view: Map<string, Stored<T>>,
    signal: AbortSignal,
    onSynced: () => void,
  ): Promise<void> {
    let version: string | undefined
    while (!signal.aborted) {
      try {
        if (version === undefined) {
          const { items, metadata } = await this.#client.listAll(resource, { namespace: 'default', signal })
          version = metadata.resourceVersion
          const names = new Set([...view.keys(), ...items.map((item) => item.metadata.name)])
          view.clear()
          for (const item of items) view.set(item.metadata.name, item)
          for (const name of names) this.#mark(name)
          onSynced()
        }
        version = await this.#watch(resource, view, version ?? '', signal)
      } catch {
        if (signal.aborted) return
        if (this.#habits.afterWatchError !== 'resume') version = undefined
        await new Promise((resolve) => setTimeout(resolve, 5_000))
      }
    }
  }

  /** Returns the version to continue from. */
  async #watch<T extends KubeObject>(
    resource: Resource<T>,
    view: Map<string, Stored<T>>,
    from: string,
    signal: AbortSignal,
  ): Promise<string> {
    let version = from
    const limits = this.#habits.noticesSilence === false ? [] : [AbortSignal.timeout((WATCH_SECONDS + 5) * 1_000)]
    const options = { namespace: 'default', resourceVersion: from, timeoutSeconds: WATCH_SECONDS }
    for await (const { type, object } of this.#client.watch(resource, {
      ...options,
      signal: AbortSignal.any([signal, ...limits]),
    })) {
      version = object.metadata.resourceVersion
      if (type === 'BOOKMARK') continue
      const { name } = object.metadata
      if (type === 'DELETED') view.delete(name)
      else view.set(name, object)
      if (object.kind === 'Note') this.#lastEvents.set(name, type)
      this.#mark(name)
    }
    return version
  }
}
