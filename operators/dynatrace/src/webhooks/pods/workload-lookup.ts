/** Finds the workload that a pod belongs to, by following controllers upwards. */
import { type Clock, systemClock } from '@reeve/http'
import {
  CronJobs,
  DaemonSets,
  Deployments,
  Jobs,
  type KubeClient,
  type ObjectMeta,
  type OwnerReference,
  ReplicaSets,
  type Resource,
  resource,
  StatefulSets,
} from '@reeve/kube'
import type { Metrics } from '@reeve/runtime/metrics'
import { noMetrics } from '@reeve/runtime/metrics'
import { BoundedMap } from '../../bounded-map.ts'
import { displayName, type InjectablePod, type Workload } from './injection-input.ts'

const ReplicationControllers = resource({
  group: '',
  version: 'v1',
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
  namespaced: true,
})

const DeploymentConfigs = resource({
  group: 'apps.openshift.io',
  version: 'v1',
  kind: 'DeploymentConfig',
  plural: 'deploymentconfigs',
  namespaced: true,
})

/** Owners of other kinds are not followed: the webhook has no permission to read them. */
const FOLLOWED: readonly Resource[] = [
  ReplicaSets,
  Deployments,
  StatefulSets,
  DaemonSets,
  Jobs,
  CronJobs,
  ReplicationControllers,
  DeploymentConfigs,
]

/** Owners could form a circle; no workload of Kubernetes has more than two levels above its pods. */
const MAX_LEVELS = 8

/** What one request may take, retries included. */
const REQUEST_TIMEOUT_MS = 3_000

/** Owner references hardly ever change, but an owner may be replaced by another of the same name. */
const KEPT_MS = 30_000
const MAX_KEPT = 2_000

interface Known {
  /** What controls the owner, if that is followed. */
  readonly controller: OwnerReference | undefined
  readonly untilMs: number
}

/** Options of {@link WorkloadLookup}. */
export interface WorkloadLookupOptions {
  readonly clock?: Clock
  readonly metrics?: Metrics
  /** How long owners of owners are cached; 0 for no cache. @default 30_000 */
  readonly keptMs?: number
}

/**
 * Looks owners up by GET, and caches their owners for a short time: the pods of one Deployment are created together, and
 * all but the first then need no request.
 *
 * *Errors*: the client's, when an owner cannot be read.
 *
 * @example
 * const { kind, name } = await lookup.of(pod, 'shop', { signal }) // a Deployment
 */
export class WorkloadLookup {
  readonly #client: KubeClient
  readonly #clock: Clock
  readonly #keptMs: number
  readonly #known = new BoundedMap<string, Known>(MAX_KEPT)
  readonly #count: (source: 'cache' | 'api') => void

  constructor(client: KubeClient, { clock, metrics = noMetrics, keptMs = KEPT_MS }: WorkloadLookupOptions = {}) {
    this.#client = client
    this.#clock = clock ?? systemClock
    this.#keptMs = keptMs
    const lookups = metrics.counter({
      name: 'dynatrace_webhook_owner_lookups_total',
      help: 'Owners of pods that were looked up, by where they were found.',
      labels: ['source'],
    })
    this.#count = (source) => lookups.inc({ source })
  }

  /** The workload of a pod in `namespace`. */
  async of(pod: InjectablePod, namespace: string, options: { readonly signal: AbortSignal }): Promise<Workload> {
    let workload: Workload = { kind: 'pod', name: displayName(pod) }
    let controller = followedController(pod.metadata)
    for (let level = 0; controller !== undefined && level < MAX_LEVELS; level++) {
      workload = { kind: controller.kind.toLowerCase(), name: controller.name }
      controller = await this.#controllerOf(controller, namespace, options.signal)
    }
    return workload
  }

  async #controllerOf(
    owner: OwnerReference,
    namespace: string,
    signal: AbortSignal,
  ): Promise<OwnerReference | undefined> {
    const key = JSON.stringify([namespace, owner.apiVersion, owner.kind, owner.name, owner.uid])
    const known = this.#known.get(key)
    if (known !== undefined && known.untilMs > this.#clock.now()) {
      this.#count('cache')
      return known.controller
    }
    const of = resourceOf(owner)
    if (of === undefined) return undefined
    const options = { metadataOnly: true, signal, timeoutMs: REQUEST_TIMEOUT_MS }
    const { metadata } = await this.#client.get(of, { namespace, name: owner.name }, options)
    this.#count('api')
    const controller = followedController(metadata)
    this.#known.set(key, { controller, untilMs: this.#clock.now() + this.#keptMs })
    return controller
  }
}

function followedController({ ownerReferences = [] }: ObjectMeta): OwnerReference | undefined {
  const controller = ownerReferences.find((reference) => reference.controller === true)
  return controller !== undefined && isReadable(controller) && resourceOf(controller) ? controller : undefined
}

/** Members of references are checked by API servers only. */
const isReadable = ({ apiVersion, kind, name }: OwnerReference): boolean =>
  [apiVersion, kind, name].every((text) => typeof text === 'string' && text !== '')

function resourceOf({ apiVersion, kind }: OwnerReference): Resource | undefined {
  return FOLLOWED.find(
    (of) => of.kind === kind && apiVersion === (of.group === '' ? 'v1' : `${of.group}/${of.version}`),
  )
}
