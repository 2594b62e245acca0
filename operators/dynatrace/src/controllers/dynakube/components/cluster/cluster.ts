/** The cluster as the tenant knows it: announced by the operator, found again as an entity. */
import type { Component } from '../../component.ts'
import { announceCluster, findClusterEntity } from '../../resolve/cluster-entity.ts'
import { activeGate } from '../active-gate/active-gate.ts'

/** Announcing is a service to the user, and left out while gateways cannot be worked out. */
export const clusterAnnouncement: Component = {
  name: 'cluster announcement',
  after: [activeGate],
  isOptional: true,
  mayOwn: () => [],
  async resolve(pass, { outcomeOf }) {
    const { state } = outcomeOf(activeGate) ?? {}
    if (state !== 'failed' && state !== 'waiting') await announceCluster(pass)
    return undefined
  },
  render: () => [],
}

/** Its id and name are passed on by agents. */
export const clusterEntity: Component = {
  name: 'cluster entity',
  after: [clusterAnnouncement],
  mayOwn: () => [],
  async resolve(pass) {
    await findClusterEntity(pass)
    return undefined
  },
  render: () => [],
}
