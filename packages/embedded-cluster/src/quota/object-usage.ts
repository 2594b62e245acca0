/** What an object of any resource counts for in quotas. */

import { parseQuantity, wholeQuantity } from '../api/quantity.ts'
import { arrayAt, type JsonObject, objectAt, stringAt } from '../json.ts'
import { type Amounts, NONE, ONE } from './amounts.ts'
import { podUsage } from './pod-usage.ts'

/** Resources that quotas count by their own name besides `count/`. */
const plainCounts = ['configmaps', 'secrets', 'replicationcontrollers', 'resourcequotas']
const claimOfClass = '.storageclass.storage.k8s.io/'

/** The usage of an object. `resource` is `plural` or `plural.group`. */
export function usageOf(resource: string, object: JsonObject, nowMs: number): Amounts {
  switch (resource) {
    case 'pods':
      return podUsage(object, nowMs)
    case 'services':
      return serviceUsage(object)
    case 'persistentvolumeclaims':
      return claimUsage(object)
  }
  const usage = new Map([[`count/${resource}`, ONE]])
  if (plainCounts.includes(resource)) usage.set(resource, ONE)
  return usage
}

/** The resource whose objects count for a name in a quota. */
export function countedResource(hardName: string): string {
  if (hardName.startsWith('count/')) return hardName.slice('count/'.length)
  if (plainCounts.includes(hardName)) return hardName
  if (hardName === 'services' || hardName.startsWith('services.')) return 'services'
  const isClaim = ['persistentvolumeclaims', 'requests.storage'].includes(hardName) || hardName.includes(claimOfClass)
  return isClaim ? 'persistentvolumeclaims' : 'pods'
}

function serviceUsage(service: JsonObject): Amounts {
  const spec = objectAt(service, 'spec')
  const ports = wholeQuantity(BigInt(arrayAt(spec, 'ports').length))
  const isBalanced = spec.type === 'LoadBalancer'
  const hasNodePorts = spec.type === 'NodePort' || (isBalanced && spec.allocateLoadBalancerNodePorts !== false)
  return new Map([
    ['count/services', ONE],
    ['services', ONE],
    ['services.nodeports', hasNodePorts ? ports : NONE],
    ['services.loadbalancers', isBalanced ? ONE : NONE],
  ])
}

function claimUsage(claim: JsonObject): Amounts {
  const spec = objectAt(claim, 'spec')
  const requested = objectAt(objectAt(spec, 'resources'), 'requests').storage
  const storage = requested === undefined ? NONE : parseQuantity(String(requested))
  const annotations = objectAt(objectAt(claim, 'metadata'), 'annotations')
  const storageClass =
    stringAt(annotations, 'volume.beta.kubernetes.io/storage-class') ?? stringAt(spec, 'storageClassName') ?? ''
  const usage = new Map([
    ['count/persistentvolumeclaims', ONE],
    ['persistentvolumeclaims', ONE],
    ['requests.storage', storage],
  ])
  if (storageClass !== '') {
    usage.set(`${storageClass}${claimOfClass}persistentvolumeclaims`, ONE)
    usage.set(`${storageClass}${claimOfClass}requests.storage`, storage)
  }
  return usage
}
