/** A cluster in memory on which a reconcile may write: the difference that it makes is the plan. */
import { createHash } from 'node:crypto'
import { type EmbeddedCluster, type JsonObject, startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  type Clock,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  createClient,
  type KubeClient,
  type KubeObject,
  type Resource,
  type Stored,
  type TransportRequest,
} from '@reeve/kube'
import { type CacheReader, formatTime } from '@reeve/runtime'
import { fieldMatcher, labelMatcher, type Matcher } from '@reeve/runtime/cache'
import type { Source } from '@reeve/runtime/controller'
import { controllerOf } from '@reeve/runtime/owner-references'

/** Objects by what identifies them, see {@link identityOf}. */
export type ObjectsById = ReadonlyMap<string, Stored<KubeObject>>

/** Kind, namespace and name. All kinds of a plan have different names, whatever their group. */
export function identityOf({ kind, metadata }: KubeObject): string {
  return `${kind}/${metadata.namespace ?? ''}/${metadata.name ?? ''}`
}

/** Names an object for people: `WebApp shop/web`. */
export function titleOf({ kind, metadata: { namespace, name = '' } }: KubeObject): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}

/** Objects that were read from a server, by their identity. */
export const byIdentity = (objects: readonly KubeObject[]): ObjectsById =>
  new Map(objects.map((object) => [identityOf(object), object as Stored<KubeObject>])) // as the server stores them

/** Options of {@link ScratchCluster.start}. */
export interface ScratchOptions {
  readonly clock: Clock
  /** The field manager of the operator. */
  readonly fieldManager: string
  /** The kinds that a plan is about. */
  readonly kinds: readonly Resource[]
  /** The CRDs of custom kinds. Of one without a CRD, any object is accepted. */
  readonly crds: readonly CustomResourceDefinition[]
  /** What the operator caches, so that reads show what its informers would select. @default everything */
  readonly sources?: readonly Source<KubeObject>[]
}

/**
 * An API server without controllers and without a socket. Reads of {@link ScratchCluster.view} show every write
 * immediately.
 *
 * @example
 * await using scratch = await ScratchCluster.start({ clock, fieldManager: 'webapp-operator', kinds, crds })
 * await scratch.adopt(objects)
 */
export class ScratchCluster implements AsyncDisposable {
  readonly client: KubeClient
  readonly view: CacheReader
  readonly #cluster: EmbeddedCluster
  readonly #clock: Clock
  readonly #kinds: readonly Resource[]
  readonly #all: CacheReader
  #writes = 0

  private constructor(cluster: EmbeddedCluster, { clock, fieldManager, kinds, sources = [] }: ScratchOptions) {
    this.#cluster = cluster
    this.#clock = clock
    this.#kinds = kinds
    this.#all = viewOf(cluster, [])
    this.view = viewOf(cluster, sources)
    this.client = createClient({
      clock,
      fieldManager,
      transport: { send: (request) => this.#send(request), close: async () => undefined },
    })
  }

  /** Starts one with the namespaces that every cluster has. */
  static async start(options: ScratchOptions): Promise<ScratchCluster> {
    const { clock, kinds, crds } = options
    const cluster = await startEmbeddedCluster({
      listen: false,
      authorization: 'AlwaysAllow',
      controllers: false,
      clock,
      random: repeatable(),
    })
    const scratch = new ScratchCluster(cluster, options)
    const known = new Set(crds.map(({ metadata }) => metadata.name))
    const open = kinds.filter((kind) => isCustom(kind) && !known.has(crdName(kind))).map(openDefinition)
    for (const crd of [...crds, ...open]) await scratch.client.create(CustomResourceDefinitions, withoutWebhook(crd))
    return scratch
  }

  /** The number of requests so far that would change something. */
  get writes(): number {
    return this.#writes
  }

  /** Stores objects as another cluster had them. Those without uid or time, such as from files, get one. */
  async adopt(objects: Iterable<KubeObject>): Promise<void> {
    for (const object of objects) {
      const { uid = uidFor(object), creationTimestamp = formatTime(this.#clock.now()) } = object.metadata
      const metadata = { ...object.metadata, uid, creationTimestamp }
      // Objects that were read from a server or a file are JSON.
      await this.#cluster.adopt([{ ...object, metadata } as unknown as JsonObject])
    }
  }

  /** Every object of the kinds of the plan, in its current state. */
  objects(): ObjectsById {
    return new Map(this.#kinds.flatMap((kind) => this.#all.list(kind)).map((object) => [identityOf(object), object]))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#cluster.stop()
  }

  #send(request: TransportRequest) {
    if (request.method !== 'GET') this.#writes += 1
    return this.#cluster.handle(request)
  }
}

const crdName = ({ plural, group }: Resource): string => (group === '' ? plural : `${plural}.${group}`)

/** Groups of custom resources have a domain. */
const isCustom = ({ group }: Resource): boolean => group.includes('.') && !group.endsWith('.k8s.io')

/** Nothing serves a conversion webhook here; objects are adopted in the version that they were read in. */
function withoutWebhook(crd: CustomResourceDefinition): CustomResourceDefinition {
  const { conversion: _webhook, ...spec } = crd.spec
  return { ...crd, spec }
}

/** A definition that admits everything the operator writes: the real cluster validates it. */
function openDefinition({ group, version, kind, plural, namespaced }: Resource): CustomResourceDefinition {
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  }
}

function viewOf({ api }: EmbeddedCluster, sources: readonly Source<KubeObject>[]): CacheReader {
  const sourcesOf = (resource: Resource) => sources.filter((source) => crdName(source.resource) === crdName(resource))
  const selects = (resource: Resource, object: KubeObject) => {
    const matching = sourcesOf(resource)
    return matching.length === 0 || matching.some((source) => matchersOf(source).every((matches) => matches(object)))
  }
  const list: CacheReader['list'] = <T extends KubeObject>(resource: Resource<T>, options = {}) =>
    // What the cluster stores of a resource has the shape of the resource.
    (api.list(crdName(resource), options) as unknown as readonly Stored<T>[]).filter((one) => selects(resource, one))
  return {
    list,
    get: <T extends KubeObject>(resource: Resource<T>, { namespace, name }: { namespace?: string; name: string }) => {
      // As above.
      const object = api.get(crdName(resource), namespace, name) as unknown as Stored<T> | undefined
      return object !== undefined && selects(resource, object) ? object : undefined
    },
    ownedBy: (resource, uid) => list(resource).filter((object) => controllerOf(object)?.uid === uid),
    selects,
    byIndex: (resource, index, value) => {
      const indexer = sourcesOf(resource).flatMap(({ indexers }) => indexers?.[index] ?? [])[0]
      if (indexer === undefined) throw new Error(`a plan has no index ${index}: list and filter instead`)
      return list(resource).filter((object) => indexer(object).includes(value))
    },
  }
}

function matchersOf({ namespace, labelSelector, fieldSelector }: Source<KubeObject>): readonly Matcher[] {
  return [
    ...(namespace === undefined ? [] : [(object: KubeObject) => object.metadata.namespace === namespace]),
    ...(labelSelector === undefined ? [] : [labelMatcher(labelSelector)]),
    ...(fieldSelector === undefined ? [] : [fieldMatcher(fieldSelector)]),
  ]
}

/** In the form of a uid, and always the same for an object. */
function uidFor(object: KubeObject): string {
  const hex = createHash('sha256').update(identityOf(object)).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Numbers that spread evenly over [0, 1) and are the same in every run, so that the plan is as well. */
function repeatable(): () => number {
  const golden = 0.618_033_988_749_894_9
  let drawn = 0
  return () => {
    drawn += 1
    return (drawn * golden) % 1
  }
}
