/**
 * A cluster in a map, for tests of controllers: resourceVersions, conflicts, generations, finalizers, graceful
 * deletion, status apart from the rest. It knows no schema: what a real server would default, a test writes.
 */
import type { Clock } from '../../clock.ts'
import { isJsonObject, type JsonObject } from '../../json.ts'
import type { ClusterApi, ClusterEvent } from '../../rest/cluster-api.ts'
import { StatusError } from '../../status-error.ts'
import { jsonEquals } from '../json-equals.ts'
import type { ClusterObject, ObjectMeta } from '../kinds/meta.ts'
import type { Pod } from '../kinds/pods.ts'
import { asJson, asObject } from '../resource-client.ts'
import { timestamp } from '../timestamp.ts'

interface Served {
  readonly resource: string
  readonly namespaced: boolean
  readonly kind: string
  readonly group: string
}

const WITHOUT_STATUS = new Set(['ConfigMap', 'Secret', 'ServiceAccount', 'Endpoints', 'EndpointSlice', 'Event'])
const CLUSTER_SCOPED = new Set(['Namespace', 'Node', 'PersistentVolume', 'StorageClass', 'CustomResourceDefinition'])
const BUILT_IN: Readonly<Record<string, readonly string[]>> = {
  '': [
    'ConfigMap',
    'Endpoints',
    'Event',
    'Namespace',
    'Node',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'Pod',
    'Secret',
    'Service',
    'ServiceAccount',
  ],
  apps: ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'],
  batch: ['CronJob', 'Job'],
  policy: ['PodDisruptionBudget'],
  'discovery.k8s.io': ['EndpointSlice'],
  'storage.k8s.io': ['StorageClass'],
  'coordination.k8s.io': ['Lease'],
  'apiextensions.k8s.io': ['CustomResourceDefinition'],
}

/** The fake. `writes` counts commits, so that a test can say that nothing happened. */
export class FakeCluster implements ClusterApi {
  writes = 0
  /** Refuses a write by throwing; set by tests of unhappy paths. */
  refuse: (verb: string, resource: string, object: JsonObject) => void = () => undefined
  readonly #clock: Clock
  readonly #objects = new Map<string, Map<string, JsonObject>>()
  readonly #listeners = new Set<(event: ClusterEvent) => void>()
  readonly #names = new Map<string, number>()
  #served: Served[] = []
  #revision = 1

  constructor(clock: Clock) {
    this.#clock = clock
    for (const [group, kinds] of Object.entries(BUILT_IN)) {
      for (const kind of kinds) this.serve(kind, { group, namespaced: !CLUSTER_SCOPED.has(kind) })
    }
  }

  /** Adds a kind, as a CustomResourceDefinition would. */
  serve(kind: string, { group, namespaced }: { group: string; namespaced: boolean }): void {
    const singular = kind.toLowerCase()
    const plural =
      singular.endsWith('s') && kind !== 'StorageClass'
        ? singular
        : `${singular}${kind === 'StorageClass' ? 'es' : 's'}`
    const resource = group === '' ? plural : `${plural}.${group}`
    this.#served = [...this.#served, { resource, namespaced, kind, group }]
  }

  resources(): readonly Served[] {
    return this.#served
  }

  subscribe(listener: (event: ClusterEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  get(resource: string, namespace: string | undefined, name: string): JsonObject | undefined {
    return this.#objects.get(resource)?.get(`${namespace ?? ''}/${name}`)
  }

  list(resource: string, options: { namespace?: string; labelSelector?: string } = {}): readonly JsonObject[] {
    const all = [...(this.#objects.get(resource)?.values() ?? [])]
    return options.namespace === undefined
      ? all
      : all.filter((object) => metaOf(object).namespace === options.namespace)
  }

  async create(resource: string, object: JsonObject, options: { subresource?: string } = {}): Promise<JsonObject> {
    this.refuse('create', resource, object)
    if (options.subresource === 'binding') return this.#bind(object)
    const served = this.#service(resource)
    const meta = metaOf(object)
    if (served.namespaced) this.#requireActive(meta.namespace ?? '')
    const name = meta.name ?? this.#generateName(generateNameOf(object))
    if (this.get(resource, meta.namespace, name) !== undefined) {
      throw new StatusError(409, 'AlreadyExists', `${resource} "${name}" already exists`)
    }
    const metadata = { ...meta, name, uid: this.#uid(), generation: 1, creationTimestamp: timestamp(this.#clock.now()) }
    const { status: _dropped, ...rest } = object
    const created: JsonObject = { ...(WITHOUT_STATUS.has(served.kind) ? object : rest), metadata: asJson(metadata) }
    if (served.kind === 'Pod') created.status = { phase: 'Pending', qosClass: 'BestEffort' }
    if (served.kind === 'Namespace') {
      created.spec = { finalizers: ['kubernetes'] }
      created.status = { phase: 'Active' }
    }
    return this.#commit(resource, undefined, created)
  }

  async update(resource: string, object: JsonObject, options: { subresource?: string } = {}): Promise<JsonObject> {
    this.refuse(`update ${options.subresource ?? ''}`.trim(), resource, object)
    const meta = metaOf(object)
    const live = this.#live(resource, meta.namespace, meta.name)
    if (meta.uid !== undefined && meta.uid !== metaOf(live).uid) throw conflict(resource, meta.name, 'another uid')
    if (meta.resourceVersion !== undefined && meta.resourceVersion !== metaOf(live).resourceVersion) {
      throw conflict(resource, meta.name, 'the object has been modified')
    }
    const next = merge(live, object, options.subresource, this.#service(resource).kind)
    if (jsonEquals(live, next)) return live
    const { finalizers, deletionTimestamp, deletionGracePeriodSeconds = 0 } = metaOf(next)
    const pending = [...(finalizers ?? []), ...namespaceFinalizers(next)]
    const isGone = deletionTimestamp !== undefined && pending.length === 0 && deletionGracePeriodSeconds === 0
    return this.#commit(resource, live, isGone ? undefined : next)
  }

  async delete(
    resource: string,
    namespace: string | undefined,
    name: string,
    options: Parameters<ClusterApi['delete']>[3] = {},
  ): Promise<void> {
    const live = this.#live(resource, namespace, name)
    this.refuse('delete', resource, live)
    const meta = metaOf(live)
    const { uid, resourceVersion } = options.preconditions ?? {}
    if (uid !== undefined && uid !== meta.uid) throw conflict(resource, name, 'another uid')
    if (resourceVersion !== undefined && resourceVersion !== meta.resourceVersion) {
      throw conflict(resource, name, 'another resourceVersion')
    }
    const { propagationPolicy } = options
    const finalizers = new Set(meta.finalizers)
    if (propagationPolicy === 'Foreground') finalizers.add('foregroundDeletion')
    if (propagationPolicy === 'Orphan') finalizers.add('orphan')
    const graceSeconds = this.#graceSeconds(resource, live, options.gracePeriodSeconds)
    const pending = [...finalizers, ...namespaceFinalizers(live)]
    if (pending.length === 0 && graceSeconds === 0) {
      this.#commit(resource, live, undefined)
      return
    }
    const due = timestamp(this.#clock.now() + graceSeconds * 1000)
    const next: JsonObject = {
      ...live,
      metadata: asJson({
        ...metaOf(live),
        ...(finalizers.size === 0 ? {} : { finalizers: [...finalizers] }),
        deletionTimestamp: meta.deletionTimestamp ?? due,
        deletionGracePeriodSeconds: graceSeconds,
      }),
    }
    if (resource === 'namespaces') next.status = { ...objectOf(live.status), phase: 'Terminating' }
    if (!jsonEquals(live, next)) this.#commit(resource, live, next)
  }

  #graceSeconds(resource: string, live: JsonObject, wanted: number | undefined): number {
    if (resource !== 'pods' || asObject<Pod>(live).spec.nodeName === undefined) return 0
    return Math.min(wanted ?? 30, metaOf(live).deletionGracePeriodSeconds ?? Number.POSITIVE_INFINITY)
  }

  #bind(binding: JsonObject): JsonObject {
    const meta = metaOf(binding)
    const pod = this.#live('pods', meta.namespace, meta.name)
    const { nodeName } = asObject<Pod>(pod).spec
    if (nodeName !== undefined) throw conflict('pods', meta.name, `it is bound to ${nodeName}`)
    const condition = { type: 'PodScheduled', status: 'True', lastTransitionTime: timestamp(this.#clock.now()) }
    const next: JsonObject = {
      ...pod,
      spec: { ...objectOf(pod.spec), nodeName: objectOf(binding.target).name },
      status: { ...objectOf(pod.status), conditions: [condition] },
    }
    return this.#commit('pods', pod, next)
  }

  #commit(resource: string, live: JsonObject | undefined, next: JsonObject | undefined): JsonObject {
    this.#revision += 1
    this.writes += 1
    const base = next ?? live ?? {}
    const object = freeze({
      ...base,
      metadata: { ...objectOf(base.metadata), resourceVersion: `${this.#revision}` },
    })
    const { namespace = '', name } = metaOf(object)
    const objects = this.#objects.get(resource) ?? new Map<string, JsonObject>()
    this.#objects.set(resource, objects)
    if (next === undefined) objects.delete(`${namespace}/${name}`)
    else objects.set(`${namespace}/${name}`, object)
    const type = next === undefined ? 'DELETED' : live === undefined ? 'ADDED' : 'MODIFIED'
    for (const listener of [...this.#listeners]) listener({ type, resource, object, previous: live })
    return object
  }

  #service(resource: string): Served {
    const served = this.#served.find((candidate) => candidate.resource === resource)
    if (served === undefined) throw new StatusError(404, 'NotFound', `the server has no resource ${resource}`)
    return served
  }

  #live(resource: string, namespace: string | undefined, name: string): JsonObject {
    const live = this.get(resource, namespace, name)
    if (live === undefined) throw new StatusError(404, 'NotFound', `${resource} "${name}" not found`)
    return live
  }

  #requireActive(namespace: string): void {
    const object = this.#live('namespaces', undefined, namespace)
    if (metaOf(object).deletionTimestamp === undefined) return
    const causes = [{ reason: 'NamespaceTerminating' }]
    throw new StatusError(403, 'Forbidden', `namespace ${namespace} is being terminated`, { causes })
  }

  #generateName(prefix: string): string {
    const count = (this.#names.get(prefix) ?? 0) + 1
    this.#names.set(prefix, count)
    return `${prefix}${count.toString().padStart(5, '0')}`
  }

  #uid(): string {
    return `00000000-0000-4000-8000-${(this.#revision + 1).toString().padStart(12, '0')}`
  }
}

function merge(live: JsonObject, wanted: JsonObject, subresource: string | undefined, kind: string): JsonObject {
  if (subresource === 'status') return { ...live, status: wanted.status }
  if (subresource === 'finalize') return { ...live, spec: wanted.spec }
  const liveMeta = metaOf(live)
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, resourceVersion } = liveMeta
  const status = WITHOUT_STATUS.has(kind) ? {} : { status: live.status }
  const changed = !jsonEquals({ ...live, ...status, metadata: {} }, { ...wanted, ...status, metadata: {} })
  const generation = (liveMeta.generation ?? 1) + (changed ? 1 : 0)
  const metadata = {
    ...metaOf(wanted),
    ...{ uid, creationTimestamp, resourceVersion, generation },
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp, deletionGracePeriodSeconds }),
  }
  return { ...wanted, ...status, metadata: asJson(metadata) }
}

function namespaceFinalizers(object: JsonObject): readonly string[] {
  if (object.kind !== 'Namespace') return []
  const { finalizers } = objectOf(object.spec)
  return Array.isArray(finalizers) ? finalizers.map(String) : []
}

function conflict(resource: string, name: string, why: string): StatusError {
  return new StatusError(409, 'Conflict', `cannot write ${resource} "${name}": ${why}`)
}

function metaOf(object: JsonObject): ObjectMeta {
  return asObject<ClusterObject>(object).metadata
}

function generateNameOf(object: JsonObject): string {
  const { generateName } = objectOf(object.metadata)
  return typeof generateName === 'string' ? generateName : ''
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const field of Object.values(value)) freeze(field)
  }
  return value
}
