/** Gadgets, which become ConfigMaps, and the engine that reconciles them: for tests of components. */
import { conditions, crdManifest, defineCrd, type ObjectOf } from '@reeve/crd'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import { SimulatedClock } from '@reeve/http/testing'
import {
  ConfigMaps,
  CustomResourceDefinitions,
  createClient,
  type KubeClient,
  type KubeObject,
  type ObjectKey,
  type Resource,
  Secrets,
  type Stored,
} from '@reeve/kube'
import { type CacheReader, type Component, desired, type Occurrence, silentLogger } from '@reeve/runtime'
import { labelMatcher } from '@reeve/runtime/cache'
import { type AnyComponent, ComponentEngine, type ComponentOptions } from '@reeve/runtime/components'
import { noRuntimeWatches, type ReconcileResult } from '@reeve/runtime/controller'
import { controllerOf } from '@reeve/runtime/owner-references'
import { Type } from 'typebox'
import { afterEach, beforeEach } from 'vitest'

const v1 = {
  spec: Type.Object({ parts: Type.Array(Type.String()) }),
  status: Type.Object({
    note: Type.Optional(Type.String()),
    phase: Type.Optional(Type.String()),
    conditions: Type.Optional(conditions()),
  }),
} as const
const GadgetCrd = defineCrd({
  group: 'example.com',
  kind: 'Gadget',
  plural: 'gadgets',
  scope: 'Namespaced',
  versions: { v1 },
})

/** A resource that names its parts. */
export type Gadget = ObjectOf<typeof v1>
export const Gadgets = GadgetCrd.resource('v1')
/** The one of every test. */
export const key = { namespace: 'default', name: 'g' }

/** A component of Gadgets. */
export type Part = Component<Gadget, unknown>

/** Enabled where the Gadget names it; a ConfigMap of its name. */
export const part = (name: string, extra: Partial<Part> = {}): Part => ({
  name,
  isEnabled: ({ spec }) => spec.parts.includes(name),
  render: () => [configMap(name)],
  ...extra,
})

/** Desired, beside the Gadget. */
export const configMap = (name: string, data: Record<string, string> = {}) =>
  desired(ConfigMaps, { metadata: { namespace: 'default', name }, data })

/** What a reconcile may use instead of the present state of the cluster. */
interface ReconcileView {
  readonly readsSecrets?: boolean
  readonly view?: CacheReader
}

/** A cluster of its own for each test, with one Gadget of the parts a, b and c. */
export class GadgetStage {
  readonly #clock = new SimulatedClock()
  #started: { readonly cluster: EmbeddedCluster; readonly client: KubeClient } | undefined
  /** What was recorded. */
  events: Occurrence[] = []
  /** Which ConfigMaps an informer would select. */
  selector = ''

  /** Called once per file. */
  static forThisFile(): GadgetStage {
    const stage = new GadgetStage()
    beforeEach(() => stage.#start())
    afterEach(() => stage.cluster.stop())
    return stage
  }

  get cluster(): EmbeddedCluster {
    return this.#running.cluster
  }

  /** Requests that changed something. */
  get writes(): number {
    return this.cluster.requests.writes
  }

  get client(): KubeClient {
    return this.#running.client
  }

  get #running() {
    if (this.#started === undefined) throw new Error('the stage is set before each test, and not earlier')
    return this.#started
  }

  async #start(): Promise<void> {
    const cluster = await startEmbeddedCluster({ listen: false, clock: this.#clock })
    const client = createClient({ clock: this.#clock, transport: cluster.transport })
    this.#started = { cluster, client }
    await client.create(CustomResourceDefinitions, crdManifest(GadgetCrd))
    await this.create('a', 'b', 'c')
    this.events = []
    this.selector = ''
  }

  readonly create = (...parts: string[]) =>
    this.client.create(Gadgets, { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: key, spec: { parts } })

  readonly edit = (...parts: string[]) => this.client.patch(Gadgets, key, { type: 'merge', patch: { spec: { parts } } })

  readonly status = async () => (await this.client.get(Gadgets, key)).status

  /** The names of all ConfigMaps beside the Gadget. */
  readonly names = async () =>
    (await this.client.listAll(ConfigMaps, { namespace: 'default' })).items
      .map(({ metadata }) => metadata.name)
      .filter((name) => name !== 'kube-root-ca.crt')

  /** A view that is as fresh as the server. */
  readonly lookNow = async (readsSecrets = true): Promise<CacheReader> => {
    const lists = new Map<Resource, readonly Stored<KubeObject>[]>()
    for (const resource of readsSecrets ? [Gadgets, ConfigMaps, Secrets] : [Gadgets, ConfigMaps])
      lists.set(resource, (await this.client.listAll(resource)).items)
    const list = <T extends KubeObject>(resource: Resource<T>, options: { labelSelector?: string } = {}) =>
      (lists.get(resource) ?? [])
        .filter(labelMatcher(options.labelSelector ?? ''))
        .filter((object) =>
          resource.kind === 'ConfigMap' ? labelMatcher(this.selector)(object) : true,
        ) as readonly Stored<KubeObject>[] as readonly Stored<T>[]
    return {
      list,
      get: (resource, { name, namespace }: ObjectKey) =>
        list(resource).find(({ metadata }) => metadata.name === name && metadata.namespace === namespace),
      ownedBy: (resource, uid) => list(resource).filter((object) => controllerOf(object)?.uid === uid),
      byIndex: () => [],
      selects: (resource, object) => resource.kind !== 'ConfigMap' || labelMatcher(this.selector)(object),
    }
  }

  /** One engine that remembers what it has seen, as in a controller. */
  readonly engineFor = (
    components: readonly AnyComponent<Gadget>[],
    options: Partial<ComponentOptions<Gadget>> = {},
  ) => {
    const engine = new ComponentEngine<Gadget>({
      resource: Gadgets,
      owned: [ConfigMaps],
      fieldManager: 'gadgets',
      components,
      ...options,
    })
    return async ({ readsSecrets = true, view }: ReconcileView = {}): Promise<ReconcileResult> => {
      const cache = view ?? (await this.lookNow(readsSecrets))
      const result = await engine.reconcile({
        key,
        object: cache.get(Gadgets, key),
        reasons: [],
        attempt: 1,
        reconcileId: 'test',
        client: this.client,
        cache,
        logger: silentLogger,
        clock: this.#clock,
        signal: new AbortController().signal,
        events: { record: (_object, occurrence) => void this.events.push(occurrence) },
        watches: noRuntimeWatches,
        stage: (_name, part) => part(),
      })
      return result ?? {}
    }
  }

  readonly reconcile = (
    components: readonly AnyComponent<Gadget>[],
    options: Partial<ComponentOptions<Gadget>> = {},
  ): Promise<ReconcileResult> => this.engineFor(components, options)()
}
