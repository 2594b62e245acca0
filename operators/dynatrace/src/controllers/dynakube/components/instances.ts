/** The agents on nodes, in the status. */

import { clusterPassOf, type DynaKubeComponent } from '../engine-component.ts'
import { reportInstances } from './one-agent/instances.ts'

const INTERVAL_MS = 5 * 60_000

/** Keeps them in the status. @param after what the agents come from */
export const instancesComponent = (after: readonly DynaKubeComponent[]): DynaKubeComponent => ({
  name: 'instances',
  after,
  mayOwn: () => [],
  resolve(context) {
    const { instancesIntervalMs = INTERVAL_MS } = context.dependencies
    reportInstances(clusterPassOf(context), context.cache, instancesIntervalMs)
    return {}
  },
  isReady: () => true,
})
