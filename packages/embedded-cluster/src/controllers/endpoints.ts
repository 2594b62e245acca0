/** Keeps the Endpoints and EndpointSlices of Services up to date with their pods. */
import type { Lookup } from './cluster-view.ts'
import type { ControllerContext } from './context.ts'
import { Controller } from './controller.ts'
import { desiredEndpoints, desiredSlices, isSelecting, type SliceContent } from './endpoints/addresses.ts'
import type { EndpointSlice, Endpoints, Node, Service } from './kinds/cluster.ts'
import { controllerReference, isTerminating, keyOf, type Labels, namespaceOf, splitKey } from './kinds/meta.ts'
import { isReady, type Pod } from './kinds/pods.ts'
import { asObject, jsonEquals, ResourceClient } from './resource-client.ts'
import { SelectorIndex } from './selectors.ts'
import type { SimulatorController } from './simulator-controller.ts'

const SERVICE_NAME = 'kubernetes.io/service-name'
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by'
const SLICE_MANAGER = 'endpointslice-controller.k8s.io'

class EndpointsReconciler {
  readonly #context: ControllerContext
  readonly #services: ResourceClient<Service>
  readonly #endpoints: ResourceClient<Endpoints>
  readonly #slices: ResourceClient<EndpointSlice>
  readonly #nodes: ResourceClient<Node>
  readonly #slicesOf: Lookup<EndpointSlice>

  constructor(context: ControllerContext) {
    this.#context = context
    this.#services = new ResourceClient(context.api, 'services')
    this.#endpoints = new ResourceClient(context.api, 'endpoints')
    this.#slices = new ResourceClient(context.api, 'endpointslices.discovery.k8s.io')
    this.#nodes = new ResourceClient(context.api, 'nodes')
    this.#slicesOf = context.view.lookup<EndpointSlice>('endpointslices.discovery.k8s.io', (slice) => {
      const service = ownedService(slice)
      return service === undefined ? [] : [service]
    })
  }

  async reconcile(key: string): Promise<undefined> {
    const { namespace, name } = splitKey(key)
    const service = this.#services.get(namespace, name)
    if (service === undefined) {
      // The slices are owned by the Service and garbage-collected; the Endpoints only share its name.
      const left = this.#endpoints.get(namespace, name)
      if (left !== undefined && !isTerminating(left)) await this.#endpoints.delete(left)
      return
    }
    if (isTerminating(service) || !isSelecting(service)) return
    const pods = this.#context.pods.matching(namespace, { matchLabels: service.spec.selector ?? {} })
    await this.#writeEndpoints(service, pods)
    await this.#writeSlices(service, pods)
  }

  async #writeEndpoints(service: Service, pods: readonly Pod[]): Promise<void> {
    const subsets = desiredEndpoints(service, pods)
    const labels = { ...labelsOf(service), 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' }
    const { name } = service.metadata
    const existing = this.#endpoints.get(namespaceOf(service), name)
    if (existing === undefined) {
      const metadata = { name, namespace: namespaceOf(service), labels }
      const content = subsets.length === 0 ? {} : { subsets }
      await this.#endpoints.create({ apiVersion: 'v1', kind: 'Endpoints', metadata, ...content })
      return
    }
    if (jsonEquals(existing.subsets ?? [], subsets) && jsonEquals(existing.metadata.labels, labels)) return
    await this.#endpoints.update({ ...existing, metadata: { ...existing.metadata, labels }, subsets })
  }

  async #writeSlices(service: Service, pods: readonly Pod[]): Promise<void> {
    const zoneOf = (node: string) => this.#nodes.get('', node)?.metadata.labels?.['topology.kubernetes.io/zone']
    const wanted = desiredSlices(service, pods, zoneOf)
    const existing = this.#slicesOf.get(keyOf(service)).filter((slice) => !isTerminating(slice))
    const labels = { ...labelsOf(service), [SERVICE_NAME]: service.metadata.name, [MANAGED_BY]: SLICE_MANAGER }
    for (const content of wanted) {
      const slice = takeMatching(existing, content)
      if (slice === undefined) await this.#createSlice(service, labels, content)
      else await this.#updateSlice(slice, labels, content)
    }
    for (const surplus of existing) await this.#slices.delete(surplus)
  }

  async #createSlice(service: Service, labels: Labels, content: SliceContent): Promise<void> {
    await this.#slices.create({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        generateName: `${service.metadata.name}-`,
        namespace: namespaceOf(service),
        labels,
        ownerReferences: [controllerReference(service)],
      },
      ...content,
    })
  }

  async #updateSlice(slice: EndpointSlice, labels: Labels, content: SliceContent): Promise<void> {
    const { addressType, endpoints, ports } = slice
    const now = { addressType, endpoints: endpoints ?? [], ports: ports ?? [] }
    if (jsonEquals(now, content) && jsonEquals(slice.metadata.labels, labels)) return
    await this.#slices.update({ ...slice, metadata: { ...slice.metadata, labels }, ...content })
  }
}

/** Removes from `slices` the one that needs the fewest changes: with the same ports, otherwise any. */
function takeMatching(slices: EndpointSlice[], content: SliceContent): EndpointSlice | undefined {
  const ofType = slices.filter((slice) => slice.addressType === content.addressType)
  const found = ofType.find((slice) => jsonEquals(slice.ports ?? [], content.ports)) ?? ofType[0]
  if (found !== undefined) slices.splice(slices.indexOf(found), 1)
  return found
}

function labelsOf(service: Service): Labels {
  const headless: Labels = service.spec.clusterIP === 'None' ? { 'service.kubernetes.io/headless': '' } : {}
  return { ...service.metadata.labels, ...headless }
}

/** The key of the Service that a managed slice belongs to. */
function ownedService(slice: EndpointSlice): string | undefined {
  const { labels = {} } = slice.metadata
  const service = labels[SERVICE_NAME]
  return labels[MANAGED_BY] === SLICE_MANAGER && service !== undefined ? `${namespaceOf(slice)}/${service}` : undefined
}

/** The fields of a pod that are visible in endpoints. */
function visiblePart(pod: Pod) {
  const { labels, deletionTimestamp } = pod.metadata
  return [labels, deletionTimestamp, pod.status?.podIP, pod.status?.phase, isReady(pod), pod.spec.nodeName]
}

/** The controller of Endpoints and EndpointSlices. Keys are those of Services. */
export function createEndpointsController(context: ControllerContext): SimulatorController {
  const reconciler = new EndpointsReconciler(context)
  const selectors = new SelectorIndex()
  return new Controller(context, {
    name: 'endpoints',
    gathersEvents: true,
    watches: {
      services: ({ type, object }, enqueue) => {
        const service = asObject<Service>(object)
        const isServed = type !== 'DELETED' && isSelecting(service)
        const selector = isServed ? { matchLabels: service.spec.selector ?? {} } : undefined
        selectors.set(namespaceOf(service), keyOf(service), selector)
        enqueue(keyOf(service))
      },
      pods: ({ type, object, previous }, enqueue) => {
        const pod = asObject<Pod>(object)
        const before = previous === undefined ? undefined : asObject<Pod>(previous)
        if (type === 'MODIFIED' && before !== undefined && jsonEquals(visiblePart(before), visiblePart(pod))) return
        for (const state of before === undefined ? [pod] : [before, pod]) {
          for (const key of selectors.matching(namespaceOf(state), state.metadata.labels)) enqueue(key)
        }
      },
      // Manual changes and deletions are reverted.
      endpoints: ({ type, object }, enqueue) => {
        if (type !== 'ADDED') enqueue(keyOf(asObject(object)))
      },
      'endpointslices.discovery.k8s.io': ({ type, object }, enqueue) => {
        const service = ownedService(asObject<EndpointSlice>(object))
        if (type !== 'ADDED' && service !== undefined) enqueue(service)
      },
    },
    reconcile: (key) => reconciler.reconcile(key),
  })
}
