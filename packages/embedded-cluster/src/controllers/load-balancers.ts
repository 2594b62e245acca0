/** Assigns an address to Services of type LoadBalancer, like a cloud provider. */
import type { ControllerContext } from './context.ts'
import { Controller } from './controller.ts'
import type { Service } from './kinds/cluster.ts'
import { isTerminating, keyOf, splitKey } from './kinds/meta.ts'
import { asObject, ResourceClient } from './resource-client.ts'
import type { SimulatorController } from './simulator-controller.ts'

function ingressOf({ status }: Service): string | undefined {
  return status?.loadBalancer?.ingress?.[0]?.ip
}

/** Keys are those of Services. One with a `loadBalancerClass` is ignored. */
export function createLoadBalancerController(context: ControllerContext): SimulatorController {
  const services = new ResourceClient<Service>(context.api, 'services')

  function freeAddress(): string {
    const used = new Set(services.list().map(ingressOf))
    for (let number = 1; ; number++) {
      const address = `172.19.${number >> 8}.${number & 255}`
      if (!used.has(address)) return address
    }
  }

  return new Controller(context, {
    name: 'load-balancers',
    // Concurrent reconciles would find the same address available.
    concurrency: 1,
    watches: {
      services: ({ type, object }, enqueue) => {
        const service = asObject<Service>(object)
        const isConcerned = service.spec.type === 'LoadBalancer' || ingressOf(service) !== undefined
        if (type !== 'DELETED' && isConcerned) enqueue(keyOf(service))
      },
    },
    async reconcile(key) {
      const { namespace, name } = splitKey(key)
      const service = services.get(namespace, name)
      if (service === undefined || isTerminating(service) || service.spec.loadBalancerClass !== undefined)
        return undefined
      const isWanted = service.spec.type === 'LoadBalancer'
      if (isWanted === (ingressOf(service) !== undefined)) return undefined
      const loadBalancer = isWanted ? { ingress: [{ ip: freeAddress() }] } : {}
      await services.updateStatus(service, { ...service.status, loadBalancer })
      return undefined
    },
  })
}
