/** Finds the strategy of a kind. */
import type { ResourceInfo } from '../registry/resource-info.ts'
import { groupResource } from '../registry/resource-info.ts'
import type { KindStrategy } from './kind-strategy.ts'

const plain: KindStrategy = {}
const strategies: Readonly<Record<string, KindStrategy>> = {
  namespaces: { names: 'label', returnsDeletedObject: true },
  pods: { generation: ['spec'], returnsDeletedObject: true },
  services: { names: 'service', returnsDeletedObject: true },
  'deployments.apps': { generation: ['spec'] },
}

export function strategyOf(info: ResourceInfo): KindStrategy {
  return strategies[groupResource(info)] ?? plain
}
