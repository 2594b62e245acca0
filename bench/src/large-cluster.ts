/** Nodes and pods of the size that clusters have. */
import type { DaemonSet, Node, Pod } from '@reeve/kube'

/** Images that a kubelet reports at most. */
const IMAGES = 50

/** A node with everything that a kubelet and a cloud provider write: about 14 KB of JSON, most of it images. */
export function node(index: number): Node {
  const name = nodeName(index)
  const amounts = { cpu: '16', memory: '65837016Ki', 'ephemeral-storage': '104845292Ki', pods: '110' }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'node.kubernetes.io/instance-type': 'm7.4xlarge',
        'topology.kubernetes.io/region': 'region-1',
        'topology.kubernetes.io/zone': `region-1-${'abc'[index % 3]}`,
      },
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
    },
    spec: { podCIDR: `10.${index % 250}.0.0/24`, providerID: `cloud:///region-1/${name}` },
    status: {
      addresses: [
        { type: 'InternalIP', address: nodeAddress(index) },
        { type: 'Hostname', address: name },
      ],
      capacity: amounts,
      allocatable: amounts,
      conditions: ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({
        type,
        status: type === 'Ready' ? 'True' : 'False',
        reason: `Kubelet${type}`,
        message: `kubelet reports ${type}`,
        lastHeartbeatTime: '2030-01-01T00:00:05Z',
        lastTransitionTime: '2030-01-01T00:00:05Z',
      })),
      images: Array.from({ length: IMAGES }, (_, image) => ({
        names: [
          `registry.example.com/team-${image % 7}/service-${image}@sha256:${'0123456789abcdef'.repeat(4)}`,
          `registry.example.com/team-${image % 7}/service-${image}:1.${image}.${index % 10}`,
        ],
        sizeBytes: 100_000_000 + image,
      })),
    },
  } as Node // without the kubelet's own versions, which are not read here
}

/** The pod that a DaemonSet has on a node. */
export function agentPod({ metadata, spec }: DaemonSet, index: number): Pod {
  const { template } = spec ?? {}
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...template?.metadata, name: `${metadata.name}-${index.toString(36).padStart(5, '0')}` },
    spec: { containers: [], ...template?.spec, nodeName: nodeName(index) },
    status: {
      phase: 'Running',
      hostIP: nodeAddress(index),
      podIP: nodeAddress(index),
      conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({ type, status: 'True' })),
    },
  }
}

const nodeName = (index: number): string => `ip-${nodeAddress(index).replaceAll('.', '-')}.region-1.compute.internal`

const nodeAddress = (index: number): string => `172.16.${Math.floor(index / 250)}.${(index % 250) + 1}`
