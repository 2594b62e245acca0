/** The CSI drivers of simulated nodes: their CSINode objects, and events about pods that miss one. */
import {
  type CsiNodeDriver,
  csiMountFailure,
  csiNodeDrivers,
  registeredDrivers,
} from '@reeve/embedded-cluster/csi-drivers'
import type { ApiClient } from '../api-client.ts'
import type { Node, ObjectMeta, Pod } from './objects.ts'
import { timestamp } from './pod-status.ts'
import { create, undefinedOn } from './requests.ts'

interface CsiNode {
  readonly metadata: ObjectMeta
  readonly spec: { readonly drivers: readonly CsiNodeDriver[] | null }
}

/** The fields of a CSIDriver that are read. */
export interface CsiDriver {
  readonly metadata: ObjectMeta
  readonly spec: { readonly volumeLifecycleModes?: readonly string[] }
}

const COLLECTION = '/apis/storage.k8s.io/v1/csinodes'

/** Registers drivers as kubelets do. */
export class CsiRegistry {
  readonly #client: ApiClient
  /** The last reported failure of each waiting pod, by uid: a failure is an event once, not with every attempt. */
  readonly #reported = new Map<string, string>()

  /** Modes of volumes by the name of the driver. */
  readonly #modes = new Map<string, readonly string[]>()

  constructor(client: ApiClient) {
    this.#client = client
  }

  /** Lists the drivers that pods of the node registered in its CSINode object, which is deleted with the node. */
  async publish(node: Node | undefined, pods: Iterable<Pod>): Promise<void> {
    if (node === undefined) return
    const { name, uid } = node.metadata
    const path = `${COLLECTION}/${name}`
    const existing = await undefinedOn(404, this.#client.json<CsiNode>({ method: 'GET', path }))
    const listed = existing?.spec.drivers ?? []
    const drivers = csiNodeDrivers(name, registeredDrivers(pods), listed)
    if (drivers.length === listed.length && drivers.every((driver) => listed.includes(driver))) return
    if (existing !== undefined) {
      await this.#client.text({ method: 'PUT', path, body: { ...existing, spec: { drivers } } })
      return
    }
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }]
    const metadata = { name, ownerReferences }
    await this.#client.text(
      create(COLLECTION, { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', metadata, spec: { drivers } }),
    )
  }

  /** Takes over what the CSIDriver objects of the cluster say. */
  declare(drivers: Iterable<CsiDriver>): void {
    this.#modes.clear()
    for (const { metadata, spec } of drivers) this.#modes.set(metadata.name, spec.volumeLifecycleModes ?? [])
  }

  /** Whether all inline volumes of the pod can be mounted, given the pods of its node; if not, an event says why. */
  async checkVolumes(pod: Pod, podsOfNode: Iterable<Pod>): Promise<boolean> {
    const { uid = '' } = pod.metadata
    const lifecycleModes = (driver: string) => this.#modes.get(driver)
    const failure = csiMountFailure(pod, { registered: registeredDrivers(podsOfNode), lifecycleModes })?.message
    if (failure === undefined) this.#reported.delete(uid)
    else if (this.#reported.get(uid) !== failure) {
      await this.#client.text(create(`/api/v1/namespaces/${pod.metadata.namespace}/events`, failedMount(pod, failure)))
      this.#reported.set(uid, failure)
    }
    return failure === undefined
  }

  /** Drops what is known about a deleted pod. */
  forget({ metadata }: Pod): void {
    this.#reported.delete(metadata.uid ?? '')
  }
}

function failedMount({ metadata, spec }: Pod, message: string): object {
  const { name, namespace, uid, resourceVersion } = metadata
  const now = timestamp(Date.now())
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { generateName: `${name}.`, namespace },
    involvedObject: { apiVersion: 'v1', kind: 'Pod', name, namespace, uid, resourceVersion },
    type: 'Warning',
    reason: 'FailedMount',
    message,
    source: { component: 'kubelet', host: spec.nodeName },
    reportingComponent: 'kubelet',
    reportingInstance: spec.nodeName,
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  }
}
