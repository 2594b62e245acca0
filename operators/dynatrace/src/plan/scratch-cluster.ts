/** A cluster in memory on which a reconcile may do what it likes: what it did is the plan. */
import { createHash } from 'node:crypto'
import { type EmbeddedCluster, type JsonObject, startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  type Clock,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  createClient,
  type KubeClient,
  type KubeObject,
  Namespaces,
  type Resource,
  type Stored,
  type TransportRequest,
} from '@reeve/kube'
import { type CacheReader, formatTime } from '@reeve/runtime'
import { controllerOf } from '@reeve/runtime/owner-references'
import { crdManifests } from '../api/crd-manifests.ts'
import { DynaKubes, EdgeConnects } from '../api/latest.ts'
import { ISTIO_KINDS } from '../controllers/dynakube/components/istio/resources.ts'
import { OWNED } from '../controllers/dynakube/reconcile.ts'
import { FIELD_MANAGER } from '../controllers/field-manager.ts'

/** The kinds that a plan speaks of. */
export const PLANNED_KINDS: readonly Resource[] = [Namespaces, DynaKubes, EdgeConnects, ...OWNED, ...ISTIO_KINDS]

/** Objects by what identifies them, see {@link identityOf}. */
export type ObjectsById = ReadonlyMap<string, Stored<KubeObject>>

/** Kind, namespace and name. All kinds of a plan have different names, whatever their group. */
export function identityOf({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata.namespace ?? ''}/${metadata.name ?? ''}`
}

/**
 * An API server without controllers and without a socket, with both CRDs. Reads of {@link ScratchCluster.view} show every
 * write at once.
 *
 * @example
 * await using scratch = await ScratchCluster.start(clock, { hasIstio: false })
 * await scratch.adopt(objects)
 */
export class ScratchCluster implements AsyncDisposable {
  readonly client: KubeClient
  readonly view: CacheReader
  readonly #cluster: EmbeddedCluster
  readonly #clock: Clock
  #writes = 0

  private constructor(cluster: EmbeddedCluster, clock: Clock) {
    this.#cluster = cluster
    this.#clock = clock
    this.view = viewOf(cluster)
    this.client = createClient({
      clock,
      fieldManager: FIELD_MANAGER,
      transport: { send: (request) => this.#send(request), close: async () => undefined },
    })
  }

  /** Starts one with the namespaces that every cluster has, and with Istio's kinds if there are such. */
  static async start(clock: Clock, { hasIstio }: { readonly hasIstio: boolean }): Promise<ScratchCluster> {
    const cluster = await startEmbeddedCluster({
      listen: false,
      authorization: 'AlwaysAllow',
      controllers: false,
      clock,
      random: repeatable(),
    })
    const scratch = new ScratchCluster(cluster, clock)
    for (const manifest of [...crdManifests(), ...(hasIstio ? ISTIO_KINDS.map(openDefinition) : [])]) {
      // The manifest keeps its spec open; the cluster checks it.
      await scratch.client.create(CustomResourceDefinitions, manifest as unknown as CustomResourceDefinition)
    }
    return scratch
  }

  /** How many requests wanted to change something so far. */
  get writes(): number {
    return this.#writes
  }

  /** Puts objects in place as another cluster had them. What people wrote down without uid or time gets one. */
  async adopt(objects: Iterable<KubeObject>): Promise<void> {
    for (const object of objects) {
      const { uid = uidFor(object), creationTimestamp = formatTime(this.#clock.now()) } = object.metadata
      const metadata = { ...object.metadata, uid, creationTimestamp }
      // Objects that were read from a server or a file are JSON.
      await this.#cluster.adopt([{ ...object, metadata } as unknown as JsonObject])
    }
  }

  /** Every object that a plan speaks of, as it is now. */
  objects(): ObjectsById {
    return new Map(PLANNED_KINDS.flatMap((kind) => this.view.list(kind)).map((object) => [identityOf(object), object]))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#cluster.stop()
  }

  #send(request: TransportRequest) {
    if (request.method !== 'GET') this.#writes += 1
    return this.#cluster.handle(request)
  }
}

/** A definition that admits whatever the operator writes: the real one is the cluster's business. */
function openDefinition({ group, version, kind, plural }: Resource): object {
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  }
}

function viewOf({ api }: EmbeddedCluster): CacheReader {
  const nameOf = ({ plural, group }: Resource) => (group === '' ? plural : `${plural}.${group}`)
  const list: CacheReader['list'] = <T extends KubeObject>(resource: Resource<T>, options = {}) =>
    // What the cluster stores of a resource has the shape of the resource.
    api.list(nameOf(resource), options) as unknown as readonly Stored<T>[]
  return {
    list,
    get: <T extends KubeObject>(resource: Resource<T>, { namespace, name }: { namespace?: string; name: string }) =>
      // As above.
      api.get(nameOf(resource), namespace, name) as unknown as Stored<T> | undefined,
    ownedBy: (resource, uid) => list(resource).filter((object) => controllerOf(object)?.uid === uid),
    selects: () => true,
    byIndex: (_resource, index) => {
      throw new Error(`a plan has no index ${index}: list and filter instead`)
    },
  }
}

/** In the form of a uid, and always the same for an object. */
function uidFor(object: KubeObject): string {
  const hex = createHash('sha256').update(identityOf(object)).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Numbers that spread evenly over [0, 1) and are the same in every run, so that a plan is, too. */
function repeatable(): () => number {
  const golden = 0.618_033_988_749_894_9
  let drawn = 0
  return () => {
    drawn += 1
    return (drawn * golden) % 1
  }
}
