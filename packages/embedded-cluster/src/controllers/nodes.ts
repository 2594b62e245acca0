/** Registers simulated nodes and keeps their taints in sync with their conditions. */
import { timestamp } from '../clock.ts'
import { withCondition } from './conditions.ts'
import type { ControllerContext } from './context.ts'
import { isAlreadyExists } from './control-loop.ts'
import { Controller } from './controller.ts'
import type { Node, NodeStatus, Taint } from './kinds/cluster.ts'
import { type Condition, isTerminating, type Labels } from './kinds/meta.ts'
import { isReady, type Pod } from './kinds/pods.ts'
import { asObject, jsonEquals, ResourceClient } from './resource-client.ts'
import type { SimulatorController } from './simulator-controller.ts'

/** A node to register at start. */
export interface SimulatedNode {
  readonly name: string
  readonly labels?: Labels
  readonly taints?: readonly Taint[]
  /** Overrides the defaults: 64 CPUs, 256 GiB of memory, 2500 pods. */
  readonly capacity?: Labels
}

const CAPACITY: Labels = { cpu: '64', memory: '256Gi', 'ephemeral-storage': '1Ti', pods: '2500' }
const MANAGED_TAINTS = new Set([
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/unschedulable',
  'node.kubernetes.io/memory-pressure',
  'node.kubernetes.io/disk-pressure',
  'node.kubernetes.io/pid-pressure',
])
const PRESSURE: Labels = {
  MemoryPressure: 'node.kubernetes.io/memory-pressure',
  DiskPressure: 'node.kubernetes.io/disk-pressure',
  PIDPressure: 'node.kubernetes.io/pid-pressure',
}

/** `node-1` to `node-N`, distributed over three zones. */
export function simulatedNodes(count: number): SimulatedNode[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `node-${index + 1}`,
    labels: { 'topology.kubernetes.io/zone': `local-${'abc'[index % 3]}` },
  }))
}

/**
 * Registers `nodes` at start. A Node that another client creates without a Ready condition also gets a status and can
 * run pods: this is how a node joins. An existing Ready condition is never changed, so a test makes a node fail or
 * recover by writing it.
 */
export function createNodeController(context: ControllerContext, nodes: readonly SimulatedNode[]): SimulatorController {
  const { api, clock } = context
  const client = new ResourceClient<Node>(api, 'nodes')
  const pods = new ResourceClient<Pod>(api, 'pods')
  const wanted = new Map(nodes.map((node) => [node.name, node]))
  const toRegister = new Set<string>()

  function freeAddress(): string {
    const used = new Set(client.list().flatMap(({ status }) => (status?.addresses ?? []).map(({ address }) => address)))
    for (let number = 2; ; number++) {
      const address = `172.18.${number >> 8}.${number & 255}`
      if (!used.has(address)) return address
    }
  }

  async function register({ name, labels, taints }: SimulatedNode): Promise<void> {
    try {
      await client.create({
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, labels: { ...standardLabels(name), ...labels } },
        spec: { providerID: `simulator://${name}`, ...(taints === undefined ? {} : { taints }) },
      })
    } catch (error) {
      // It was registered by an earlier run.
      if (!isAlreadyExists(error)) throw error
    }
  }

  async function markPodsUnready(name: string): Promise<void> {
    const now = timestamp(clock.now())
    const unready = {
      type: 'Ready',
      status: 'False',
      reason: 'NodeNotReady',
      message: `node ${name} is not ready`,
    } as const
    for (const pod of context.pods.onNode(name).filter(isReady)) {
      await pods.updateStatus(pod, { ...pod.status, conditions: withCondition(pod.status?.conditions, unready, now) })
    }
  }

  return new Controller(context, {
    name: 'nodes',
    // Concurrent reconciles would find the same address available.
    concurrency: 1,
    watches: {
      nodes: ({ type, object }, enqueue) => {
        const { name } = asObject(object).metadata
        toRegister.delete(name)
        if (type !== 'DELETED') enqueue(name)
      },
    },
    initialKeys: [...wanted.keys()],
    reset: () => {
      for (const name of wanted.keys()) toRegister.add(name)
    },
    async reconcile(name) {
      const template = wanted.get(name)
      if (toRegister.has(name) && template !== undefined) await register(template)
      toRegister.delete(name)
      const node = client.get('', name)
      if (node === undefined || isTerminating(node)) return undefined
      if (readiness(node) === undefined) {
        await client.updateStatus(
          node,
          simulatedStatus(name, freeAddress(), template?.capacity, timestamp(clock.now())),
        )
        return undefined
      }
      const taints = wantedTaints(node, timestamp(clock.now()))
      if (!jsonEquals(node.spec?.taints ?? [], taints)) {
        await client.update({ ...node, spec: { ...node.spec, taints } })
      }
      if (readiness(node)?.status !== 'True') await markPodsUnready(name)
      return undefined
    },
  })
}

function readiness(node: Node): Condition | undefined {
  return node.status?.conditions?.find(({ type }) => type === 'Ready')
}

/** The taints that the node should have: those set by users, and those derived from its conditions. */
function wantedTaints(node: Node, now: string): Taint[] {
  const existing = node.spec?.taints ?? []
  const called: Taint[] = []
  if (node.spec?.unschedulable === true) called.push({ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' })
  for (const { type, status } of node.status?.conditions ?? []) {
    const pressure = PRESSURE[type]
    if (pressure !== undefined && status === 'True') called.push({ key: pressure, effect: 'NoSchedule' })
    if (type !== 'Ready' || status === 'True') continue
    const key = `node.kubernetes.io/${status === 'Unknown' ? 'unreachable' : 'not-ready'}`
    called.push({ key, effect: 'NoSchedule' }, { key, effect: 'NoExecute' })
  }
  const same = (a: Taint, b: Taint) => a.key === b.key && a.effect === b.effect
  const kept = existing.filter((taint) => !MANAGED_TAINTS.has(taint.key) || called.some((other) => same(taint, other)))
  const added = called.filter((taint) => !existing.some((other) => same(taint, other)))
  // Eviction times count from the time the taint was added.
  return [...kept, ...added.map((taint) => ({ ...taint, timeAdded: now }))]
}

function standardLabels(name: string): Labels {
  return {
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
    'beta.kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': 'amd64',
    'node.kubernetes.io/instance-type': 'simulated',
    'topology.kubernetes.io/region': 'local',
  }
}

function simulatedStatus(name: string, address: string, capacity: Labels | undefined, now: string): NodeStatus {
  const resources = { ...CAPACITY, ...capacity }
  const condition = (type: string, status: 'True' | 'False', reason: string) => ({
    type,
    status,
    reason,
    message: `simulated: ${reason}`,
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  })
  return {
    capacity: resources,
    allocatable: resources,
    conditions: [
      condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory'),
      condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure'),
      condition('PIDPressure', 'False', 'KubeletHasSufficientPID'),
      condition('Ready', 'True', 'KubeletReady'),
    ],
    addresses: [
      { type: 'InternalIP', address },
      { type: 'Hostname', address: name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      architecture: 'amd64',
      operatingSystem: 'linux',
      kernelVersion: '6.12.0',
      osImage: 'Simulated Linux',
      containerRuntimeVersion: 'simulator://1.0.0',
      kubeletVersion: 'v1.35.0',
      kubeProxyVersion: '',
      bootID: '',
      machineID: name,
      systemUUID: name,
    },
  }
}
