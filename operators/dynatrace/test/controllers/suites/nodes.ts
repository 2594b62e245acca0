/** Nodes that are removed, seen from the tenant. */
import { ConfigMaps, Nodes } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { NODE_CACHE } from '../../../src/controllers/nodes/node-table.ts'
import type { ControllersStage } from '../../support/controllers-stage.ts'

/** Agents are listed in the status at most this often. */
const INSTANCES_MS = 5 * 60_000

/** The suite; `at` gives the stage once it is set. */
export function nodesSuite(at: () => ControllersStage): void {
  describe('a node with an agent', () => {
    let node: string

    it('is remembered', async () => {
      const { client, namespace } = at()
      node = `${namespace}-b`
      at().advance(INSTANCES_MS)
      await at().reconcile('full')
      await at().until('its agent in the status', async () => {
        const { status } = await at().read('full')
        return status?.oneAgent?.instances?.[node] !== undefined
      })
      // Nodes send heartbeats; here the test sends one.
      await client.patch(
        Nodes,
        { name: node },
        { type: 'merge', patch: { metadata: { annotations: { alive: 'yes' } } } },
      )
      await at().until('its entry', async () => {
        const { items } = await client.list(ConfigMaps, { namespace })
        return items.some(({ metadata, data }) => metadata.name === NODE_CACHE && data?.[node] !== undefined)
      })
    })

    it('is marked for termination when it is deleted, and forgotten', async () => {
      const { client, namespace, simulator } = at()
      const { status } = await at().read('full')
      const address = status?.oneAgent?.instances?.[node]?.ipAddress ?? ''
      const { hosts } = simulator.tenant('full')
      const host = hosts.add({ ipAddresses: [address] })
      await client.delete(Nodes, { name: node })
      await at().until('the event', () => hosts.events().length > 0)
      expect(hosts.events()).toMatchObject([{ eventType: 'MARKED_FOR_TERMINATION', entityIds: [host.entityId] }])
      await at().until('the entry to go', async () => {
        const { data } = await client.get(ConfigMaps, { namespace, name: NODE_CACHE })
        return data?.[node] === undefined
      })
    })
  })
}
