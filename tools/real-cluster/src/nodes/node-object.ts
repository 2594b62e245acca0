/** Node objects and their status, as a kubelet registers them. */
import type { Node, Taint } from './objects.ts'
import { ANNOTATIONS } from './pod-behaviour.ts'
import { timestamp } from './pod-status.ts'

/** A node to register. */
export interface NodeSpec {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly taints?: readonly Taint[]
}

/** How often a node renews its lease; the controller manager marks a node as unreachable after 50 s. */
export const NODE_HEARTBEAT_MS = 10_000

const LEASE_DURATION_SECONDS = 40

/** The object to create. */
export function nodeObject(spec: NodeSpec): object {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: spec.name,
      annotations: spec.annotations,
      labels: {
        'kubernetes.io/hostname': spec.name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        ...spec.labels,
      },
    },
    spec: { taints: spec.taints },
  }
}

/** Whether a test wants the node to be healthy. */
export function shouldBeReady(node: Node): boolean {
  return node.metadata.annotations?.[ANNOTATIONS.fail] !== 'NotReady'
}

/** Whether the reported status is up to date, so that no write is needed. */
export function isStatusCurrent(node: Node, internalIP: string, kubeletPort: number): boolean {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')
  return (
    ready?.status === (shouldBeReady(node) ? 'True' : 'False') &&
    node.status?.addresses?.some(({ address }) => address === internalIP) === true &&
    node.status.daemonEndpoints?.kubeletEndpoint?.Port === kubeletPort
  )
}

/**
 * The status to merge into a node.
 *
 * The API server connects to the external address for logs; the internal one is fictitious, because a Service refuses
 * endpoints on loopback and pods on the host's network have the node's address.
 */
export function nodeStatus(
  node: Node,
  internalIP: string,
  kubeletPort: number,
  version: string,
  nowMs: number,
): object {
  const now = timestamp(nowMs)
  const isReady = shouldBeReady(node)
  const condition = (type: string, status: boolean, reason: string) => ({
    type,
    status: status ? 'True' : 'False',
    reason,
    message: 'reported by a simulated node',
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  })
  const resources = { cpu: '64', memory: '256Gi', 'ephemeral-storage': '1Ti', pods: '1000' }
  return {
    capacity: resources,
    allocatable: resources,
    addresses: [
      { type: 'InternalIP', address: internalIP },
      { type: 'ExternalIP', address: '127.0.0.1' },
      { type: 'Hostname', address: node.metadata.name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } },
    conditions: [
      condition('MemoryPressure', false, 'KubeletHasSufficientMemory'),
      condition('DiskPressure', false, 'KubeletHasNoDiskPressure'),
      condition('PIDPressure', false, 'KubeletHasSufficientPID'),
      condition('Ready', isReady, isReady ? 'KubeletReady' : 'KubeletNotReady'),
    ],
    nodeInfo: {
      architecture: 'amd64',
      operatingSystem: 'linux',
      osImage: 'simulated',
      kernelVersion: '6.0.0',
      containerRuntimeVersion: 'simulated://1.0.0',
      kubeletVersion: version,
      kubeProxyVersion: '',
      machineID: node.metadata.uid ?? '',
      systemUUID: node.metadata.uid ?? '',
      bootID: node.metadata.uid ?? '',
    },
  }
}

/** The lease that a node renews as its heartbeat. The node owns it, so it is deleted with the node. */
export function nodeLease(node: Node, nowMs: number): object {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: node.metadata.name,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node.metadata.name, uid: node.metadata.uid }],
    },
    spec: {
      holderIdentity: node.metadata.name,
      leaseDurationSeconds: LEASE_DURATION_SECONDS,
      renewTime: new Date(nowMs).toISOString().replace('Z', '000Z'),
    },
  }
}
