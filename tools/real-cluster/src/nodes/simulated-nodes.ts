/** Nodes without machines: schedules pods and reports them running, using only the API. */
import { setTimeout as sleep } from 'node:timers/promises'
import { driversOf, hasCsiVolume } from '@reeve/embedded-cluster/csi-drivers'
import { ApiClient } from '../api-client.ts'
import { RequestFailedError } from '../errors.ts'
import type { Connection } from '../kubeconfig.ts'
import { follow } from './collection.ts'
import { type CsiDriver, CsiRegistry } from './csi-registry.ts'
import { isContained } from './is-contained.ts'
import { type KubeletServer, type LogSource, startKubeletServer } from './kubelet-server.ts'
import {
  isStatusCurrent,
  NODE_HEARTBEAT_MS,
  type NodeSpec,
  nodeLease,
  nodeObject,
  nodeStatus,
  shouldBeReady,
} from './node-object.ts'
import { keyOf, type Node, type Pod, type PodStatus } from './objects.ts'
import { place } from './placement.ts'
import { behaviourOf, hasStarted, type PodBehaviour } from './pod-behaviour.ts'
import { reportPod, reportTerminated, timestamp } from './pod-status.ts'
import { create, undefinedOn } from './requests.ts'
import { WorkSet } from './work-set.ts'

export interface SimulatedNodesOptions {
  /**
   * Nodes to register.
   * @default one, named `node-1`
   */
  readonly nodes?: readonly NodeSpec[]
  /**
   * What `kubectl logs` shows.
   * @default an empty log for every container
   */
  readonly logs?: LogSource
  /**
   * Called with failures that are retried.
   * @default console.warn
   */
  readonly onFailure?: (error: unknown) => void
}

/** Running simulated nodes. */
export interface SimulatedNodes extends AsyncDisposable {
  /** Aborts all requests; resolves when none is in progress. The Node objects stay, as when machines lose power. */
  stop(): Promise<void>
}

const STRATEGIC_MERGE = 'application/strategic-merge-patch+json'
const MERGE = 'application/merge-patch+json'
const RETRY_MS = 500
const CONCURRENT_WRITES = 8
const BINDING_SEEN_MS = 5_000

/**
 * Acts as scheduler and kubelets on a cluster that has neither.
 *
 * Every Node object of the cluster counts as a simulated machine, including those that tests create: it becomes ready
 * and stays so. Pods of the default scheduler are bound to a node that fits, become ready, exit or fail according to
 * their annotations (see `ANNOTATIONS`), and are removed when they are deleted.
 *
 * Assumptions: the cluster has neither a scheduler nor a kubelet. Otherwise both would write the same status.
 *
 * Errors: `RequestFailedError` when the nodes cannot be registered. Later failures are retried and reported to
 * `onFailure`.
 */
export async function startSimulatedNodes(
  connection: Connection,
  options: SimulatedNodesOptions = {},
): Promise<SimulatedNodes> {
  const { nodes = [{ name: 'node-1' }], logs = () => '', onFailure = (error) => console.warn(error) } = options
  const client = new ApiClient(connection)
  try {
    const { gitVersion } = await client.json<{ gitVersion: string }>({ method: 'GET', path: '/version' })
    for (const node of nodes) await undefinedOn(409, client.text(create('/api/v1/nodes', nodeObject(node))))
    const server = await startKubeletServer(logs)
    return new Simulation(client, server, gitVersion, onFailure)
  } catch (error) {
    await client.close()
    throw error
  }
}

class Simulation implements SimulatedNodes {
  readonly #client: ApiClient
  readonly #server: KubeletServer
  readonly #version: string
  readonly #onFailure: (error: unknown) => void
  readonly #stopping = new AbortController()
  readonly #pods = new Map<string, Pod>()
  readonly #nodes = new Map<string, Node>()
  // Bindings in progress, by pod uid: until the watch shows them they count as load, or a burst would fill one node.
  readonly #bindings = new Map<string, string>()
  readonly #internalIPs = new Map<string, string>()
  readonly #timers = new Map<string, NodeJS.Timeout>()
  readonly #csi: CsiRegistry
  readonly #work: WorkSet
  readonly #loops: Promise<unknown>
  #nextPodIP = 1
  #areNodesListed = false

  constructor(client: ApiClient, server: KubeletServer, version: string, onFailure: (error: unknown) => void) {
    this.#client = client
    this.#server = server
    this.#version = version
    this.#onFailure = onFailure
    this.#csi = new CsiRegistry(client)
    this.#work = new WorkSet((key) => this.#reconcile(key), CONCURRENT_WRITES)
    this.#loops = Promise.all([this.#followPods(), this.#followNodes(), this.#followDrivers(), this.#sendHeartbeats()])
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
    await this.#loops
    await this.#work.stop()
    await this.#client.close()
    await this.#server.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #followPods(): Promise<void> {
    const options = { signal: this.#stopping.signal, onFailure: this.#onFailure }
    for await (const change of follow<Pod>(this.#client, '/api/v1/pods', options)) {
      if (change.type === 'replaced') {
        this.#pods.clear()
        for (const pod of change.objects) this.#pods.set(keyOf(pod), pod)
        this.#allPods()
        for (const pod of change.objects) this.#driversChanged(pod)
      } else if (change.type === 'deleted') {
        this.#pods.delete(keyOf(change.object))
        this.#csi.forget(change.object)
        this.#driversChanged(change.object)
      } else {
        this.#pods.set(keyOf(change.object), change.object)
        this.#work.add(`pod:${keyOf(change.object)}`)
        this.#driversChanged(change.object)
      }
    }
  }

  async #followNodes(): Promise<void> {
    const options = { signal: this.#stopping.signal, onFailure: this.#onFailure }
    for await (const change of follow<Node>(this.#client, '/api/v1/nodes', options)) {
      if (change.type === 'replaced') {
        this.#nodes.clear()
        for (const node of change.objects) this.#nodes.set(node.metadata.name, node)
        this.#areNodesListed = true
        for (const name of this.#nodes.keys()) this.#work.add(`node:${name}`)
        for (const pod of this.#pods.values()) this.#driversChanged(pod)
      } else if (change.type === 'deleted') {
        this.#nodes.delete(change.object.metadata.name)
      } else {
        this.#nodes.set(change.object.metadata.name, change.object)
        this.#work.add(`node:${change.object.metadata.name}`)
      }
      // The nodes that fit may have changed.
      this.#allPods()
    }
  }

  async #followDrivers(): Promise<void> {
    const options = { signal: this.#stopping.signal, onFailure: this.#onFailure }
    const drivers = new Map<string, CsiDriver>()
    for await (const change of follow<CsiDriver>(this.#client, '/apis/storage.k8s.io/v1/csidrivers', options)) {
      if (change.type === 'replaced') {
        drivers.clear()
        for (const driver of change.objects) drivers.set(driver.metadata.name, driver)
      } else if (change.type === 'deleted') drivers.delete(change.object.metadata.name)
      else drivers.set(change.object.metadata.name, change.object)
      this.#csi.declare(drivers.values())
      for (const [key, pod] of this.#pods) if (hasCsiVolume(pod)) this.#work.add(`pod:${key}`)
    }
  }

  async #sendHeartbeats(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      // An aborted wait is the normal end; the loop condition checks for it.
      await sleep(NODE_HEARTBEAT_MS, undefined, { signal }).catch(() => undefined)
      for (const name of this.#nodes.keys()) this.#work.add(`lease:${name}`)
    }
  }

  /** The CSINode, and pods that may wait for a driver, follow each change of a driver's pod. */
  #driversChanged(changed: Pod): void {
    const { nodeName } = changed.spec
    if (!nodeName || driversOf(changed).length === 0) return
    this.#work.add(`csi:${nodeName}`)
    for (const [key, pod] of this.#pods) {
      if (pod.spec.nodeName === nodeName && hasCsiVolume(pod)) this.#work.add(`pod:${key}`)
    }
  }

  *#podsOn(nodeName: string): Generator<Pod> {
    for (const pod of this.#pods.values()) if (pod.spec.nodeName === nodeName) yield pod
  }

  #allPods(): void {
    for (const key of this.#pods.keys()) this.#work.add(`pod:${key}`)
  }

  async #reconcile(key: string): Promise<void> {
    const separator = key.indexOf(':')
    const name = key.slice(separator + 1)
    try {
      switch (key.slice(0, separator)) {
        case 'pod':
          return await this.#reconcilePod(key, this.#pods.get(name))
        case 'node':
          return await this.#reconcileNode(this.#nodes.get(name))
        case 'csi':
          return await this.#csi.publish(this.#nodes.get(name), this.#podsOn(name))
        case 'lease':
          return await this.#renewLease(this.#nodes.get(name))
        case 'bound':
          this.#bindings.delete(name)
      }
    } catch (error) {
      if (this.#stopping.signal.aborted) return
      // The object was deleted, changed or is in a terminating namespace: the watch delivers any change that matters.
      if (error instanceof RequestFailedError && [403, 404, 409].includes(error.status)) return
      this.#onFailure(error)
      this.#reconcileAfter(key, RETRY_MS)
    }
  }

  #reconcileAfter(key: string, delayMs: number): void {
    clearTimeout(this.#timers.get(key))
    const fire = () => {
      this.#timers.delete(key)
      this.#work.add(key)
    }
    this.#timers.set(key, setTimeout(fire, delayMs))
  }

  async #reconcilePod(key: string, pod: Pod | undefined): Promise<void> {
    if (pod === undefined) return
    const { nodeName } = pod.spec
    if (!nodeName) return pod.metadata.deletionTimestamp ? undefined : this.#schedule(pod)
    if (!this.#nodes.has(nodeName)) return
    if (pod.metadata.deletionTimestamp) return this.#terminate(pod)

    const host = { hostIP: this.#internalIP(nodeName), podIP: pod.status?.podIP ?? this.#unusedPodIP() }
    const report = reportPod(pod, await this.#behaviourOf(pod, nodeName), host, Date.now())
    if (!isContained(report.status, pod.status)) await this.#writeStatus(pod, report.status)
    // Timestamps have whole seconds, so waiting a little longer is never too early.
    else if (report.nextChangeMs !== undefined) this.#reconcileAfter(key, report.nextChangeMs + 10)
  }

  /** A pod whose CSI driver is not registered on its node does not start. */
  async #behaviourOf(pod: Pod, nodeName: string): Promise<PodBehaviour> {
    const behaviour = behaviourOf(pod)
    if (!hasCsiVolume(pod) || hasStarted(pod)) return behaviour
    const isMountable = await this.#csi.checkVolumes(pod, this.#podsOn(nodeName))
    return isMountable ? behaviour : { ...behaviour, waitingReason: 'ContainerCreating' }
  }

  async #schedule(pod: Pod): Promise<void> {
    if ((pod.spec.schedulerName ?? 'default-scheduler') !== 'default-scheduler') return
    if ((pod.spec.schedulingGates ?? []).length > 0 || !this.#areNodesListed) return
    if (this.#bindings.has(pod.metadata.uid ?? '')) return
    const placement = place(pod, [...this.#nodes.values()], this.#podsPerNode())
    if ('node' in placement) return this.#bind(pod, placement.node)
    const before = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
    if (before?.message === placement.unschedulable) return
    await this.#writeStatus(pod, {
      conditions: [
        {
          type: 'PodScheduled',
          status: 'False',
          reason: 'Unschedulable',
          message: placement.unschedulable,
          lastTransitionTime: before?.status === 'False' ? before.lastTransitionTime : timestamp(Date.now()),
        },
      ],
    })
  }

  async #bind(pod: Pod, nodeName: string): Promise<void> {
    const { name, uid = '' } = pod.metadata
    const target = { apiVersion: 'v1', kind: 'Node', name: nodeName }
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name, uid }, target }
    this.#bindings.set(uid, nodeName)
    try {
      await this.#client.text(create(`${podPath(pod)}/binding`, binding))
      this.#reconcileAfter(`bound:${uid}`, BINDING_SEEN_MS)
    } catch (error) {
      this.#bindings.delete(uid)
      throw error
    }
  }

  async #terminate(pod: Pod): Promise<void> {
    if (!['Succeeded', 'Failed'].includes(pod.status?.phase ?? '')) {
      await this.#writeStatus(pod, reportTerminated(pod, Date.now()))
    }
    await this.#client.text({
      method: 'DELETE',
      path: podPath(pod),
      body: { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } },
    })
  }

  async #writeStatus(pod: Pod, status: PodStatus): Promise<void> {
    const { uid, resourceVersion } = pod.metadata
    await this.#client.text({
      method: 'PATCH',
      path: `${podPath(pod)}/status`,
      contentType: STRATEGIC_MERGE,
      // The uid makes the write fail on another pod with the same name, the version on one read before our own write.
      body: { metadata: { uid, resourceVersion }, status },
    })
  }

  async #reconcileNode(node: Node | undefined): Promise<void> {
    if (node === undefined || node.metadata.deletionTimestamp) return
    const address = this.#internalIP(node.metadata.name)
    if (isStatusCurrent(node, address, this.#server.port)) return
    await this.#renewLease(node)
    await this.#client.text({
      method: 'PATCH',
      path: `/api/v1/nodes/${node.metadata.name}/status`,
      contentType: STRATEGIC_MERGE,
      body: { status: nodeStatus(node, address, this.#server.port, this.#version, Date.now()) },
    })
  }

  async #renewLease(node: Node | undefined): Promise<void> {
    if (node === undefined || !shouldBeReady(node)) return
    const collection = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
    const lease = nodeLease(node, Date.now())
    const path = `${collection}/${node.metadata.name}`
    const patched = await undefinedOn(
      404,
      this.#client.text({ method: 'PATCH', path, contentType: MERGE, body: lease }),
    )
    if (patched === undefined) await this.#client.text(create(collection, lease))
  }

  #podsPerNode(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const { metadata, spec } of this.#pods.values()) {
      const nodeName = spec.nodeName ?? this.#bindings.get(metadata.uid ?? '')
      if (nodeName) counts.set(nodeName, (counts.get(nodeName) ?? 0) + 1)
    }
    return counts
  }

  #internalIP(nodeName: string): string {
    const known = this.#internalIPs.get(nodeName)
    if (known !== undefined) return known
    const index = this.#internalIPs.size + 1
    const address = `172.31.${index >> 8}.${index & 255}`
    this.#internalIPs.set(nodeName, address)
    return address
  }

  #unusedPodIP(): string {
    const used = new Set([...this.#pods.values()].map((pod) => pod.status?.podIP))
    for (;;) {
      const index = this.#nextPodIP++ % 65_534
      const address = `10.244.${(index + 1) >> 8}.${(index + 1) & 255}`
      if (!used.has(address)) return address
    }
  }
}

function podPath(pod: Pod): string {
  return `/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}`
}
