/** Injects faults into the server: error responses, delays, broken connections, stale and lossy watches. */
import { groupResource } from '../registry/resource-info.ts'
import type { WatchHub } from '../rest/watch-hub.ts'
import type { Watcher } from '../rest/watcher.ts'
import {
  ConnectionReset,
  type Fault,
  type FaultMatch,
  type FaultSchedule,
  matches,
  type RequestFacts,
} from './fault.ts'

interface Rule {
  readonly match: FaultMatch
  readonly fault: Fault
  skipped: number
  remaining: number
}

/**
 * The faults of one cluster. Rules are tried in the order they were added; the first that applies is used.
 *
 * @example
 * cluster.faults.inject({ verb: 'update', resource: 'leases.coordination.k8s.io' }, { kind: 'status', code: 409 })
 * cluster.faults.freeze('pods') // watches of pods show nothing new until thaw('pods')
 */
export class FaultInjector {
  readonly #rules = new Set<Rule>()
  readonly #hub: WatchHub

  constructor(hub: WatchHub) {
    this.#hub = hub
  }

  /** Adds a rule. Returns the function that removes it. */
  inject(match: FaultMatch, fault: Fault, schedule: FaultSchedule = {}): () => void {
    const rule: Rule = { match, fault, skipped: schedule.after ?? 0, remaining: schedule.times ?? 1 }
    this.#rules.add(rule)
    return () => this.#rules.delete(rule)
  }

  /** Removes all rules and thaws everything. */
  clear(): void {
    this.#rules.clear()
    for (const collection of this.#frozen) this.#hub.thaw(collection)
    this.#frozen.clear()
  }

  /** The fault for this request; counts as one use of its rule. */
  take(facts: RequestFacts): Fault | undefined {
    for (const rule of this.#rules) {
      const isForWatch = rule.fault.kind.startsWith('watch-')
      if (isForWatch && facts.verb !== 'watch') continue
      if (!matches(rule.match, facts)) continue
      if (rule.skipped > 0) {
        rule.skipped -= 1
        continue
      }
      rule.remaining -= 1
      if (rule.remaining <= 0) this.#rules.delete(rule)
      return rule.fault
    }
    return undefined
  }

  /** Ends open watches, of one resource (`pods`, `deployments.apps`) or all: cleanly, or as a broken connection. */
  dropWatches(resource?: string, how: 'close' | 'reset' = 'close'): number {
    return this.#each(resource, (watcher) => {
      if (how === 'close') watcher.end()
      else watcher.fail(new ConnectionReset('while watching'))
    })
  }

  /** Keeps open watches open but sends nothing more on them, as when the peer has disappeared silently. */
  silenceWatches(resource?: string): number {
    return this.#each(resource, (watcher) => watcher.silence())
  }

  /** Drops the next `count` events of a resource for all its watches. */
  skipEvents(resource: string, count = 1): void {
    this.#hub.skipNext(resource, count)
  }

  /**
   * Freezes the state that watches of a resource, and lists that accept any version (`resourceVersion=0`), return.
   * Writes and consistent reads continue, as with an API server whose cache is behind.
   *
   * @param options `revision`: return the state of that revision, to watches that start while it is frozen
   */
  freeze(resource: string, options: { readonly revision?: number } = {}): void {
    this.#hub.freeze(resource, options.revision)
    this.#frozen.add(resource)
  }

  /** Delivers the events that {@link freeze} delayed. */
  thaw(resource: string): void {
    this.#frozen.delete(resource)
    this.#hub.thaw(resource)
  }

  readonly #frozen = new Set<string>()

  #each(resource: string | undefined, action: (watcher: Watcher) => void): number {
    const watchers = this.#hub.watchers(resource)
    for (const watcher of watchers) action(watcher)
    return watchers.length
  }
}

/** The resource of a path in the format of rules: `pods`, `deployments.apps`. */
export function factResource(path: { readonly group: string; readonly resource: string }): string {
  return groupResource({ group: path.group, plural: path.resource })
}
