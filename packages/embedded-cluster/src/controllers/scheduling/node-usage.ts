/** Resources and host ports that pods use on nodes. */
import type { Node } from '../kinds/cluster.ts'
import { type ClusterObject, keyOf } from '../kinds/meta.ts'
import { type Container, isFinished, type Pod, type PodSpec } from '../kinds/pods.ts'
import { amountOf } from '../quantities.ts'

/** Amounts by resource name, such as `cpu`. */
export type Amounts = ReadonlyMap<string, number>

/** The requests of a pod: the sum of its containers, or its largest init container if that is more. */
export function requestsOf(spec: PodSpec): Amounts {
  const total = new Map<string, number>([['pods', 1]])
  const sidecars = new Map<string, number>()
  const peak = new Map<string, number>()
  for (const container of spec.initContainers ?? []) {
    const isSidecar = container.restartPolicy === 'Always'
    for (const [name, amount] of containerRequests(container)) {
      const running = sidecars.get(name) ?? 0
      if (isSidecar) sidecars.set(name, running + amount)
      peak.set(name, Math.max(peak.get(name) ?? 0, running + amount))
    }
  }
  for (const container of spec.containers) {
    for (const [name, amount] of containerRequests(container)) total.set(name, (total.get(name) ?? 0) + amount)
  }
  for (const [name, amount] of sidecars) total.set(name, (total.get(name) ?? 0) + amount)
  for (const [name, amount] of peak) total.set(name, Math.max(total.get(name) ?? 0, amount))
  for (const [name, quantity] of Object.entries(spec.overhead ?? {})) {
    total.set(name, (total.get(name) ?? 0) + amountOf(quantity))
  }
  return total
}

function containerRequests({ resources }: Container): [string, number][] {
  // A limit without a request is also the request.
  const requests = { ...resources?.limits, ...resources?.requests }
  return Object.entries(requests).map(([name, quantity]) => [name, amountOf(quantity)])
}

interface Taken {
  readonly pods: Map<string, Pod>
  readonly amounts: Map<string, number>
}

/** Tracks the usage of each node. */
export class NodeUsage {
  readonly #taken = new Map<string, Taken>()

  /** Replaces the pod's previous state by the new one. */
  replace(previous: Pod | undefined, next: Pod | undefined): void {
    if (previous !== undefined) this.#book(previous, -1)
    if (next !== undefined) this.#book(next, 1)
  }

  clear(): void {
    this.#taken.clear()
  }

  podCount(node: string): number {
    return this.#taken.get(node)?.pods.size ?? 0
  }

  /** A resource of which too little is available on the node. */
  missing(node: Node, requests: Amounts): string | undefined {
    const { allocatable = {} } = node.status ?? {}
    const taken = this.#taken.get(node.metadata.name)?.amounts
    for (const [name, amount] of requests) {
      if (amount > 0 && (taken?.get(name) ?? 0) + amount > amountOf(allocatable[name])) return name
    }
    return undefined
  }

  /** Whether a host port of the pod is in use on the node. */
  hasPortConflict(node: ClusterObject, spec: PodSpec): boolean {
    const wanted = hostPorts(spec)
    if (wanted.length === 0) return false
    const pods = this.#taken.get(node.metadata.name)?.pods.values() ?? []
    return [...pods].some((pod) => hostPorts(pod.spec).some((port) => wanted.includes(port)))
  }

  #book(pod: Pod, sign: 1 | -1): void {
    const { nodeName } = pod.spec
    if (nodeName === undefined || isFinished(pod)) return
    let taken = this.#taken.get(nodeName)
    if (taken === undefined) {
      taken = { pods: new Map(), amounts: new Map() }
      this.#taken.set(nodeName, taken)
    }
    if (sign === 1) taken.pods.set(keyOf(pod), pod)
    else taken.pods.delete(keyOf(pod))
    for (const [name, amount] of requestsOf(pod.spec)) {
      taken.amounts.set(name, (taken.amounts.get(name) ?? 0) + sign * amount)
    }
    if (taken.pods.size === 0) this.#taken.delete(nodeName)
  }
}

/** The ports of the node that a pod takes, such as `TCP/80`. */
export function hostPorts(spec: PodSpec): string[] {
  return spec.containers.flatMap((container) =>
    (container.ports ?? []).flatMap(({ hostPort, containerPort, protocol = 'TCP' }) => {
      const port = spec.hostNetwork === true ? containerPort : hostPort
      return port === undefined || port === 0 ? [] : [`${protocol}/${port}`]
    }),
  )
}
