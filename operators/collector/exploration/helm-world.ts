/** The world of an explored Collector operator: what Helm has left in the cluster, as a state to compare. */
import { decodeRelease } from '@reeve/helm'
import type { Clock } from '@reeve/http'
import type { KubeClient, KubeObject, Resource, Secret, Stored, UnknownObject } from '@reeve/kube'
import type { OutsidePlace, OutsideWorld, PlainObject } from '@reeve/simulation'
import { MADE_BY_HELM, ReleaseStore, SAMPLE_KINDS } from './release-store.ts'

/** Releases of one simulated cluster, and a view of them that includes changes by other clients. */
export class HelmWorld implements OutsideWorld {
  readonly clock: Clock
  readonly releases: ReleaseStore
  readonly #client: KubeClient
  /** By kind and key; fed by watches. */
  readonly #seen = new Map<string, KubeObject>()

  constructor({ client, clock }: Pick<OutsidePlace, 'client' | 'clock'>) {
    this.clock = clock
    this.releases = new ReleaseStore(client)
    this.#client = client
    for (const resource of SAMPLE_KINDS) {
      // Only kind and metadata are read.
      void this.#follow(resource as Resource<KubeObject>)
    }
  }

  /**
   * Each release by its newest revision, and each existing object, without numbers and descriptions of revisions, which
   * differ between two good runs.
   */
  state(): Readonly<Record<string, PlainObject>> {
    const state: Record<string, PlainObject> = {}
    for (const [id, object] of [...this.#seen].toSorted(([one], [other]) => one.localeCompare(other))) {
      const { labels = {}, annotations } = object.metadata
      if (labels.owner === 'helm') {
        // Helm keeps its records in Secrets.
        const { namespace, name, revision, status, values, labels: marks } = decodeRelease(object as Secret)
        // In order of their ids a revision with two digits may come before one with one.
        const before = state[`release ${namespace}/${name}`]
        if (Number(before?.revision ?? 0) < revision) {
          state[`release ${namespace}/${name}`] = { revision, status, values, marks }
        }
      } else if (isMadeByHelm(labels)) {
        const { spec, data } = object as UnknownObject
        // The addresses of a Service are drawn by the server.
        const { clusterIP: _drawn, clusterIPs: _alike, ...lasting } = (spec ?? {}) as PlainObject
        state[id] = { annotations, data, spec: lasting }
      }
    }
    return Object.fromEntries(
      Object.entries(state).map(([id, { revision: _way, ...rest }]): [string, PlainObject] => [id, rest]),
    )
  }

  /** Reconnects when the server ends a stream; one that ends immediately has ended with its world. */
  async #follow(resource: Resource<KubeObject>): Promise<void> {
    const idOf = ({ metadata: { namespace, name } }: Stored<KubeObject>) => `${resource.kind} ${namespace}/${name}`
    for (let startedMs = Number.NaN; startedMs !== this.clock.now(); ) {
      startedMs = this.clock.now()
      try {
        for await (const { type, object } of this.#client.watch(resource)) {
          if (type === 'BOOKMARK') continue
          if (type === 'DELETED') this.#seen.delete(idOf(object))
          else this.#seen.set(idOf(object), object)
        }
      } catch {
        // A broken stream is opened again, like one that has ended.
      }
    }
  }
}

function isMadeByHelm(labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(MADE_BY_HELM).every(([key, value]) => labels[key] === value)
}
