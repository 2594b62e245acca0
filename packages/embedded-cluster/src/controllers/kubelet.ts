/** Simulates the kubelet of every node: pod statuses change as if containers ran. */
import type { ClusterEvent } from '../api/cluster-api.ts'
import type { Lookup } from './cluster-view.ts'
import type { ControllerContext } from './context.ts'
import { Controller, type EventHandler } from './controller.ts'
import { CSI_NODES, type CsiDriver, type CsiNode } from './csi-nodes.ts'
import type { EventContent } from './event-recorder.ts'
import { isNodeReady, type Node } from './kinds/cluster.ts'
import { isTerminating, keyOf, splitKey } from './kinds/meta.ts'
import { isFinished, type Pod, type PodStatus } from './kinds/pods.ts'
import { CSI_DRIVERS, csiMountFailure, hasCsiVolume } from './kubelet/csi-drivers.ts'
import { PodAddresses } from './kubelet/pod-addresses.ts'
import { type KubeletSettings, podBehaviour } from './kubelet/pod-behaviour.ts'
import { type NodeContext, type PodMemory, stepPod, stoppedStatus } from './kubelet/pod-lifecycle.ts'
import { containerEnvNeeds, needId, type UnmetNeed, unmet, volumeNeeds } from './kubelet/pod-references.ts'
import { asObject, ResourceClient } from './resource-client.ts'
import { hostPorts } from './scheduling/node-usage.ts'
import type { SimulatorController } from './simulator-controller.ts'

const SOURCE = 'kubelet'

/** The time to reject a pod. Without it, a workload that replaces its rejected pods would never pause. */
const REJECTION_MS = 1_000

/** Events that one change of a pod records at most, as kubelets limit the events of an object. */
const MAX_EVENTS = 25

interface TrackedPod extends PodMemory {
  readonly uid: string
  /** The dependencies it has waited for, as keys of the map of waiting pods. */
  readonly needs: Set<string>
  stoppingSinceMs?: number
  /** The message of the last event about a volume that cannot be mounted. */
  mountFailure?: string | undefined
}

const portRejection: PodStatus = {
  phase: 'Failed',
  reason: 'NodePorts',
  message: 'Pod was rejected: a host port of the pod is taken on its node',
}

function portsOnNode({ spec }: Pod): string[] {
  return hostPorts(spec).map((port) => `${spec.nodeName} ${port}`)
}

class Kubelet {
  /** Waiting pods by dependency, such as `secrets/default/tls`. */
  readonly #waiting = new Map<string, Set<string>>()
  readonly #tracked = new Map<string, TrackedPod>()
  readonly #addresses = new PodAddresses()
  readonly #context: ControllerContext
  readonly #settings: KubeletSettings
  readonly #pods: ResourceClient<Pod>
  readonly #nodes: ResourceClient<Node>
  readonly #csiNodes: ResourceClient<CsiNode>
  readonly #csiDrivers: ResourceClient<CsiDriver>
  /** Pods that take ports of their node, by node and port. */
  readonly #takenPorts: Lookup<Pod>

  constructor(context: ControllerContext, settings: KubeletSettings) {
    this.#context = context
    this.#settings = settings
    this.#pods = new ResourceClient(context.api, 'pods')
    this.#nodes = new ResourceClient(context.api, 'nodes')
    this.#csiNodes = new ResourceClient(context.api, CSI_NODES)
    this.#csiDrivers = new ResourceClient(context.api, CSI_DRIVERS)
    this.#takenPorts = context.view.lookup<Pod>('pods', (pod) =>
      pod.status?.startTime === undefined || isFinished(pod) ? [] : portsOnNode(pod),
    )
  }

  reset(): void {
    this.#waiting.clear()
    this.#tracked.clear()
    this.#addresses.clear()
  }

  handle({ type, object }: ClusterEvent, enqueue: (key: string) => void): void {
    const pod = asObject<Pod>(object)
    const key = keyOf(pod)
    if (type === 'DELETED') {
      this.#forget(key)
      return
    }
    if (pod.spec.nodeName === undefined) return
    if (pod.status?.podIP !== undefined && type === 'ADDED') this.#addresses.keep(key, pod.status.podIP)
    if (isFinished(pod)) this.#addresses.release(key)
    if (!isFinished(pod) || isTerminating(pod)) enqueue(key)
  }

  /** An object that pods may wait for was created or changed. */
  handleNeeded({ type, resource, object }: ClusterEvent, enqueue: (key: string) => void): void {
    if (type === 'DELETED') return
    const { metadata } = asObject(object)
    for (const key of this.#waiting.get(needId(resource, metadata.namespace ?? '', metadata.name)) ?? []) enqueue(key)
  }

  async reconcile(key: string): Promise<number | undefined> {
    const { namespace, name } = splitKey(key)
    const pod = this.#pods.get(namespace, name)
    if (pod?.spec.nodeName === undefined) return undefined
    const node = this.#nodes.get('', pod.spec.nodeName)
    // A node that is deleted or not ready has no active kubelet.
    if (node === undefined || !isNodeReady(node)) return undefined
    return isTerminating(pod) ? this.#stop(pod) : this.#run(pod, node)
  }

  async #run(pod: Pod, node: Node): Promise<number | undefined> {
    const nowMs = this.#context.clock.now()
    const tracked = this.#trackedPod(pod)
    if (this.#lacksPort(pod)) {
      const leftMs = tracked.acceptedAtMs + REJECTION_MS - nowMs
      if (leftMs > 0) return leftMs
      await this.#pods.updateStatus(pod, { ...pod.status, ...portRejection })
      return undefined
    }
    const context = this.#nodeContext(pod, node)
    const { status, wakeAtMs } = stepPod(pod, tracked, context, nowMs)
    const hasChanged = await this.#pods.updateStatus(pod, status)
    if (hasChanged) await this.#recordEvents(pod, status)
    if (status.podIP === undefined) await this.#recordMountFailure(pod, tracked, context.unmountable)
    return Number.isFinite(wakeAtMs) ? wakeAtMs - nowMs : undefined
  }

  async #stop(pod: Pod): Promise<number | undefined> {
    const { deletionGracePeriodSeconds: graceSeconds = 30, finalizers = [] } = pod.metadata
    const nowMs = this.#context.clock.now()
    const tracked = this.#trackedPod(pod)
    tracked.stoppingSinceMs ??= nowMs
    const { stopDelayMs } = podBehaviour(pod, this.#settings)
    const dueMs = tracked.stoppingSinceMs + (isFinished(pod) ? 0 : Math.min(stopDelayMs, graceSeconds * 1000))
    if (nowMs < dueMs) return dueMs - nowMs
    if (finalizers.length > 0 && !isFinished(pod)) {
      // A finalizer keeps the object, so it must report that the pod has terminated.
      await this.#pods.updateStatus(pod, stoppedStatus(pod, pod.status ?? {}, undefined, nowMs))
    }
    // A grace period of 0 means that it was already reported as stopped.
    if (graceSeconds > 0 || finalizers.length === 0) await this.#pods.delete(pod, { gracePeriodSeconds: 0 })
    return undefined
  }

  /** The scheduler avoids this; a pod that names its node itself may come too late. */
  #lacksPort(pod: Pod): boolean {
    return pod.status?.startTime === undefined && portsOnNode(pod).some((port) => this.#takenPorts.get(port).length > 0)
  }

  #trackedPod(pod: Pod): TrackedPod {
    const key = keyOf(pod)
    const { uid } = pod.metadata
    const known = this.#tracked.get(key)
    if (known?.uid === uid) return known
    const fresh: TrackedPod = { uid, acceptedAtMs: this.#context.clock.now(), times: new Map(), needs: new Set() }
    this.#tracked.set(key, fresh)
    return fresh
  }

  #nodeContext(pod: Pod, node: Node): NodeContext {
    const { api } = this.#context
    const hostIP = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '127.0.0.1'
    const key = keyOf(pod)
    return {
      behaviour: podBehaviour(pod, this.#settings),
      hostIP,
      podIP: () => (pod.spec.hostNetwork === true ? hostIP : this.#addresses.of(key)),
      unmountable:
        this.#await(pod, unmet(api, pod, volumeNeeds(pod))) ?? this.#await(pod, this.#unmetDriver(pod, node)),
      missingFor: (container) => this.#await(pod, unmet(api, pod, containerEnvNeeds(container))),
    }
  }

  /** Records what the pod waits for, so that its creation triggers a reconcile of the pod. */
  #await(pod: Pod, need: UnmetNeed | undefined): string | undefined {
    if (need === undefined) return undefined
    const pods = this.#waiting.get(need.id) ?? new Set()
    this.#waiting.set(need.id, pods.add(keyOf(pod)))
    this.#trackedPod(pod).needs.add(need.id)
    return need.message
  }

  /** A CSI driver that is not registered on the node, or has no inline volumes, although the pod needs one. */
  #unmetDriver(pod: Pod, node: Node): UnmetNeed | undefined {
    if (!hasCsiVolume(pod)) return undefined
    const { name } = node.metadata
    const registered = this.#csiNodes.get('', name)?.spec.drivers?.map((driver) => driver.name) ?? []
    const lifecycleModes = (driver: string) => this.#csiDrivers.get('', driver)?.spec.volumeLifecycleModes
    const failure = csiMountFailure(pod, { registered, lifecycleModes })
    if (failure === undefined) return undefined
    const { missing, driver, message } = failure
    return { id: missing === 'driver' ? needId(CSI_NODES, '', name) : needId(CSI_DRIVERS, '', driver), message }
  }

  /** Records a volume that cannot be mounted once, not with every attempt. */
  async #recordMountFailure(pod: Pod, tracked: TrackedPod, message: string | undefined): Promise<void> {
    if (message === tracked.mountFailure) return
    tracked.mountFailure = message
    if (message === undefined) return
    await this.#context.events.record(pod, { type: 'Warning', reason: 'FailedMount', message, source: SOURCE })
  }

  #forget(key: string): void {
    for (const id of this.#tracked.get(key)?.needs ?? []) {
      const pods = this.#waiting.get(id)
      pods?.delete(key)
      if (pods?.size === 0) this.#waiting.delete(id)
    }
    this.#tracked.delete(key)
    this.#addresses.release(key)
  }

  async #recordEvents(pod: Pod, status: PodStatus): Promise<void> {
    const known = new Map(pod.status?.containerStatuses?.map((container) => [container.name, container]))
    const notes = (status.containerStatuses ?? []).flatMap((container): EventContent[] => {
      const before = known.get(container.name)
      const { waiting, running } = container.state
      const hasStarted = running !== undefined && before?.state.running === undefined
      if (hasStarted) return [{ reason: 'Started', message: `started container ${container.name}`, source: SOURCE }]
      const isNewProblem = waiting?.message !== undefined && waiting.reason !== before?.state.waiting?.reason
      if (!isNewProblem) return []
      const reason = waiting.reason === 'CrashLoopBackOff' ? 'BackOff' : 'Failed'
      const message = `container ${container.name}: ${waiting.message}`
      return [{ type: 'Warning', reason, message, source: SOURCE }]
    })
    for (const note of notes.slice(0, MAX_EVENTS)) await this.#context.events.record(pod, note)
  }
}

/** One kubelet for all nodes. `kubelet/pod-behaviour.ts` documents the behaviour of pods. */
export function createKubelet(context: ControllerContext, settings: KubeletSettings): SimulatorController {
  const kubelet = new Kubelet(context, settings)
  const onNeeded: EventHandler = (event, enqueue) => kubelet.handleNeeded(event, enqueue)
  return new Controller(context, {
    name: 'kubelet',
    watches: {
      pods: (event, enqueue) => kubelet.handle(event, enqueue),
      configmaps: onNeeded,
      secrets: onNeeded,
      persistentvolumeclaims: onNeeded,
      [CSI_NODES]: onNeeded,
      [CSI_DRIVERS]: onNeeded,
      nodes: ({ object, previous }, enqueue) => {
        const node = asObject<Node>(object)
        const wasReady = previous !== undefined && isNodeReady(asObject<Node>(previous))
        if (wasReady === isNodeReady(node)) return
        for (const pod of context.pods.onNode(node.metadata.name)) enqueue(keyOf(pod))
      },
    },
    reset: () => kubelet.reset(),
    reconcile: (key) => kubelet.reconcile(key),
  })
}
