/** The ConfigMap that records nodes, so that one that was removed while no operator ran is still noticed. */
import { ownValue } from '@reeve/http'
import {
  apiVersionOf,
  type ConfigMap,
  ConfigMaps,
  type ObjectMeta,
  type OwnerReference,
  type Stored,
} from '@reeve/kube'
import { formatTime } from '@reeve/runtime'
import { formatEntry, type NodeEntry, parseEntry } from './node-entry.ts'

/** The name of the ConfigMap, in the namespace of the operator. */
export const NODE_CACHE = 'dynatrace-node-cache'

/** The annotation that says when the table was last compared with the nodes of the cluster. */
export const PRUNED_ANNOTATION = 'DTOperatorLastUpdated'

/**
 * The ConfigMap with changes on top. Entries are read one by one: there may be thousands, and most reconciles need one.
 */
export class NodeTable {
  readonly #stored: Stored<ConfigMap> | undefined
  /** By node; `undefined` for one that goes. */
  readonly #changes = new Map<string, string | undefined>()
  #prunedAt: string | undefined

  constructor(stored: Stored<ConfigMap> | undefined) {
    this.#stored = stored
    this.#prunedAt = this.#storedPrunedAt
  }

  /** There is no ConfigMap yet. */
  get isNew(): boolean {
    return this.#stored === undefined
  }

  /** Whether there is something to write. */
  get isChanged(): boolean {
    return this.isNew || this.#changes.size > 0 || this.#prunedAt !== this.#storedPrunedAt
  }

  /** When table and cluster were last compared; `undefined` when they never were, or it is unknown. */
  get prunedMs(): number | undefined {
    const value = Date.parse(this.#prunedAt ?? '')
    return Number.isNaN(value) ? undefined : value
  }

  /** The nodes in the table. */
  names(): readonly string[] {
    return Object.keys(this.#merged())
  }

  entry(node: string): NodeEntry | undefined {
    return parseEntry(this.#text(node))
  }

  set(node: string, entry: NodeEntry): void {
    const text = formatEntry(entry)
    if (this.#text(node) !== text) this.#changes.set(node, text)
  }

  remove(node: string): void {
    if (this.#text(node) !== undefined) this.#changes.set(node, undefined)
  }

  /** Notes that the table and the nodes of the cluster agreed at that time. */
  prunedAt(nowMs: number): void {
    this.#prunedAt = formatTime(nowMs)
  }

  /**
   * The desired ConfigMap, with the resourceVersion of the one that was read: the API server rejects it after a concurrent
   * change.
   *
   * @param owners of a new one
   */
  toConfigMap(namespace: string, owners: readonly OwnerReference[]): ConfigMap {
    const made: ObjectMeta = { namespace, name: NODE_CACHE, ...(owners.length > 0 && { ownerReferences: owners }) }
    const { annotations, ...metadata } = this.#stored?.metadata ?? made
    return {
      ...(this.#stored ?? { apiVersion: apiVersionOf(ConfigMaps), kind: ConfigMaps.kind }),
      metadata: {
        ...metadata,
        annotations: { ...annotations, ...(this.#prunedAt !== undefined && { [PRUNED_ANNOTATION]: this.#prunedAt }) },
      },
      data: this.#merged(),
    }
  }

  get #storedPrunedAt(): string | undefined {
    return this.#stored?.metadata.annotations?.[PRUNED_ANNOTATION]
  }

  #text(node: string): string | undefined {
    return this.#changes.has(node) ? this.#changes.get(node) : ownValue(this.#stored?.data, node)
  }

  #merged(): Record<string, string> {
    const data = { ...this.#stored?.data }
    for (const [node, text] of this.#changes) {
      if (text === undefined) delete data[node]
      else data[node] = text
    }
    return data
  }
}
