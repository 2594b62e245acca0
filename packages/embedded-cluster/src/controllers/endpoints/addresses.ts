/** Computes addresses from a Service and its pods, as pure functions. */
import type {
  EndpointAddress,
  EndpointPort,
  EndpointSlice,
  EndpointSubset,
  Service,
  ServicePort,
  SliceEndpoint,
} from '../kinds/cluster.ts'
import { isTerminating, namespaceOf, type ObjectReference } from '../kinds/meta.ts'
import { isFinished, isReady, type Pod } from '../kinds/pods.ts'

/** Maximum number of endpoints in one slice, as in a real cluster. */
const MOST_PER_SLICE = 100

/** The part of an EndpointSlice that is derived from pods. */
export interface SliceContent extends Pick<EndpointSlice, 'addressType'> {
  readonly endpoints: readonly SliceEndpoint[]
  readonly ports: readonly EndpointPort[]
}

interface PodGroup {
  readonly ports: readonly EndpointPort[]
  readonly pods: Pod[]
}

/** Whether the endpoints of the Service are derived from pods. */
export function isSelecting({ spec }: Service): boolean {
  return spec.type !== 'ExternalName' && Object.keys(spec.selector ?? {}).length > 0
}

/** The subsets of the Service's Endpoints, without terminating pods. */
export function desiredEndpoints(service: Service, pods: readonly Pod[]): EndpointSubset[] {
  const publishesAll = service.spec.publishNotReadyAddresses === true
  return groups(service, pods).flatMap(({ ports, pods: members }) => {
    const addresses: EndpointAddress[] = []
    const notReadyAddresses: EndpointAddress[] = []
    for (const pod of members) {
      if (isTerminating(pod) && !publishesAll) continue
      const target = isReady(pod) || publishesAll ? addresses : notReadyAddresses
      target.push(addressOf(service, pod))
    }
    if (addresses.length + notReadyAddresses.length === 0) return []
    return [
      {
        ...(addresses.length === 0 ? {} : { addresses }),
        ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
        ...(ports.length === 0 ? {} : { ports }),
      },
    ]
  })
}

/** The content of the Service's slices: at least one, which may be empty. */
export function desiredSlices(
  service: Service,
  pods: readonly Pod[],
  zoneOf: (node: string) => string | undefined,
): SliceContent[] {
  const addressType = service.spec.ipFamilies?.[0] ?? 'IPv4'
  const slices: SliceContent[] = []
  for (const { ports, pods: members } of groups(service, pods)) {
    for (let from = 0; from < members.length; from += MOST_PER_SLICE) {
      const endpoints = members.slice(from, from + MOST_PER_SLICE).map((pod) => sliceEndpoint(service, pod, zoneOf))
      slices.push({ addressType, endpoints, ports })
    }
  }
  return slices.length === 0 ? [{ addressType, endpoints: [], ports: [] }] : slices
}

/** Pods with an address, grouped by the ports they serve. */
function groups(service: Service, pods: readonly Pod[]): PodGroup[] {
  const byPorts = new Map<string, PodGroup>()
  const serving = pods.filter((pod) => pod.status?.podIP !== undefined && !isFinished(pod))
  for (const pod of serving.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
    const ports = (service.spec.ports ?? []).flatMap((port) => resolvePort(port, pod))
    const id = JSON.stringify(ports)
    const group = byPorts.get(id) ?? { ports, pods: [] }
    group.pods.push(pod)
    byPorts.set(id, group)
  }
  return [...byPorts.values()]
}

function resolvePort(port: ServicePort, pod: Pod): EndpointPort[] {
  const { name = '', protocol = 'TCP', appProtocol, targetPort = port.port } = port
  const number = typeof targetPort === 'number' ? targetPort : namedPort(pod, targetPort, protocol)
  if (number === undefined) return []
  return [{ name, port: number, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }]
}

function namedPort(pod: Pod, name: string, protocol: string): number | undefined {
  const sidecars = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  for (const { ports = [] } of [...pod.spec.containers, ...sidecars]) {
    const found = ports.find((port) => port.name === name && (port.protocol ?? 'TCP') === protocol)
    if (found !== undefined) return found.containerPort
  }
  return undefined
}

function addressOf(service: Service, pod: Pod): EndpointAddress {
  const { nodeName } = pod.spec
  return {
    ip: pod.status?.podIP ?? '',
    ...hostnameOf(service, pod),
    ...(nodeName === undefined ? {} : { nodeName }),
    targetRef: referenceTo(pod),
  }
}

function sliceEndpoint(service: Service, pod: Pod, zoneOf: (node: string) => string | undefined): SliceEndpoint {
  const { nodeName } = pod.spec
  const serving = isReady(pod)
  const terminating = isTerminating(pod)
  const zone = nodeName === undefined ? undefined : zoneOf(nodeName)
  return {
    addresses: [pod.status?.podIP ?? ''],
    conditions: {
      ready: service.spec.publishNotReadyAddresses === true || (serving && !terminating),
      serving,
      terminating,
    },
    ...hostnameOf(service, pod),
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(zone === undefined ? {} : { zone }),
    targetRef: referenceTo(pod),
  }
}

/** Pods of a headless Service that name it as their subdomain have their host name in its endpoints. */
function hostnameOf(service: Service, pod: Pod): { hostname?: string } {
  const { hostname, subdomain } = pod.spec
  return hostname !== undefined && subdomain === service.metadata.name ? { hostname } : {}
}

function referenceTo(pod: Pod): ObjectReference {
  return { kind: 'Pod', namespace: namespaceOf(pod), name: pod.metadata.name, uid: pod.metadata.uid }
}
