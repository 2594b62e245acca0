/** A cluster in memory on which a reconcile may write: the difference that it makes is the plan. */
import { createHash } from 'node:crypto'
import {
  type EmbeddedCluster,
  type EmbeddedClusterOptions,
  type JsonObject,
  startEmbeddedCluster,
} from '@reeve/embedded-cluster'
import type { Clock, TransportRequest } from '@reeve/http'
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  createClient,
  groupOf,
  isBuiltInGroup,
  type KubeClient,
  type KubeObject,
  type Resource,
  type Stored,
} from '@reeve/kube'
import { type CacheReader, formatTime } from '@reeve/runtime'
import { fieldMatcher, labelMatcher, type Matcher } from '@reeve/runtime/cache'
import type { Source } from '@reeve/runtime/controller'
import { controllerOf } from '@reeve/runtime/owner-references'

/** Objects by what identifies them, see {@link identityOf}. */
export type ObjectsById = ReadonlyMap<string, Stored<KubeObject>>

/** Group, kind, namespace and name: two groups may have kinds of one name. */
export function identityOf({ apiVersion, kind, metadata }: KubeObject): string {
  return `${groupOf(apiVersion)}/${kind}/${metadata.namespace ?? ''}/${metadata.name ?? ''}`
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
  /** Responds to reviews of the conversion webhooks in `crds`. @default nothing is converted but the name of the version */
  readonly callWebhook?: EmbeddedClusterOptions['callWebhook']
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
  readonly #crds: readonly CustomResourceDefinition[]
  readonly #all: CacheReader
  #writes = 0

  private constructor(cluster: EmbeddedCluster, { clock, fieldManager, kinds, crds, sources = [] }: ScratchOptions) {
    this.#cluster = cluster
    this.#clock = clock
    this.#kinds = kinds
    this.#crds = crds
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
    const { clock, kinds, crds, callWebhook } = options
    const cluster = await startEmbeddedCluster({
      listen: false,
      authorization: 'AlwaysAllow',
      controllers: false,
      clock,
      random: repeatable(),
      ...(callWebhook && { callWebhook }),
    })
    const scratch = new ScratchCluster(cluster, options)
    const known = new Set(crds.map(({ metadata }) => metadata.name))
    const open = kinds.filter((kind) => isCustom(kind) && !known.has(crdName(kind))).map(openDefinition)
    for (const crd of [...crds.map((one) => definition(one, kinds, callWebhook !== undefined)), ...open]) {
      await scratch.client.create(CustomResourceDefinitions, crd)
    }
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

  /** The resource in the version of an object, or as it is where that version is not known here. */
  served(resource: Resource, { apiVersion }: KubeObject): Resource {
    const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
    const isServed =
      isBuiltInGroup(resource.group) || this.#crds.some(({ metadata }) => metadata.name === crdName(resource))
    return isServed ? { ...resource, version } : resource
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

const isCustom = ({ group }: Resource): boolean => !isBuiltInGroup(group)

/** A definition that stores objects in the version that the operator uses, because views show them as they are stored. */
function definition(
  crd: CustomResourceDefinition,
  kinds: readonly Resource[],
  isConverted: boolean,
): CustomResourceDefinition {
  const { conversion, versions, ...spec } = crd.spec
  const used = kinds.find((kind) => crdName(kind) === crd.metadata.name)?.version
  const stored = versions.some(({ name }) => name === used)
    ? versions.map((version) => ({ ...version, storage: version.name === used }))
    : versions
  return { ...crd, spec: { ...spec, versions: stored, ...(isConverted && conversion && { conversion }) } }
}

/** A definition that admits everything the operator writes: the real cluster validates it. */
function openDefinition({ group, version, kind, plural, namespaced }: Resource): CustomResourceDefinition {
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    // Definitions in groups of Kubernetes are rejected without it.
    metadata: { name: `${plural}.${group}`, annotations: { 'api-approved.kubernetes.io': 'unapproved, for a plan' } },
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
