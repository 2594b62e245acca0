/** EdgeConnects of the user and of the operator. */
import { Deployments, Secrets } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { type EdgeConnectSpec, EdgeConnects } from '../../../src/index.ts'
import { type ControllersStage, EDGE_TENANT, OAUTH_CLIENT, TRUST } from '../../support/controllers-stage.ts'

/** The suite; `at` gives the stage once it is set. */
export function edgeConnectSuite(at: () => ControllersStage): void {
  const key = (name: string) => ({ namespace: at().namespace, name })
  const read = (name: string) => at().client.get(EdgeConnects, key(name))
  const isRunning = (name: string) => async () => (await read(name)).status?.phase === 'Running'
  const tenant = () => at().simulator.tenant(EDGE_TENANT)
  const known = () => tenant().edgeConnects.list()

  function create(name: string, spec: Partial<EdgeConnectSpec>, oauth: Partial<EdgeConnectSpec['oauth']> = {}) {
    const { client, simulator } = at()
    return client.create(EdgeConnects, {
      apiVersion: 'dynatrace.com/v1alpha2',
      kind: 'EdgeConnect',
      metadata: key(name),
      spec: {
        apiServer: simulator.authority,
        oauth: {
          clientSecret: OAUTH_CLIENT,
          endpoint: simulator.tokenUrl,
          resource: `urn:dtenvironment:${EDGE_TENANT}`,
          ...oauth,
        },
        caCertsRef: TRUST,
        imageRef: { repository: 'registry.example.com/edgeconnect', tag: '1' },
        ...spec,
      },
    })
  }

  describe('an EdgeConnect', () => {
    it('of the user runs without being created in the tenant', async () => {
      await create('regular', {})
      await at().until('it to run', isRunning('regular'))
      expect((await read('regular')).metadata.finalizers ?? []).toEqual([])
      expect(known()).toEqual([])
    })

    it('of the operator is created in the tenant and runs', async () => {
      const spec = { hostPatterns: ['*.internal.org'], kubernetesAutomation: { enabled: true } }
      await create('made', spec, { provisioner: true })
      await at().until('it to run', isRunning('made'))
      expect((await read('made')).metadata.finalizers).toEqual(['server'])
      expect(known()).toMatchObject([{ name: 'made' }])
      expect(tenant().settings.list()).toHaveLength(1)
      expect(await at().exists(Secrets, at().namespace, 'made-client')).toBe(true)
    })

    it('is scaled without a request to the tenant', async () => {
      const { client, simulator } = at()
      simulator.clearCalls()
      await client.patch(EdgeConnects, key('made'), { type: 'merge', patch: { spec: { replicas: 2 } } })
      await at().until(
        'two replicas',
        async () => (await client.get(Deployments, key('made'))).status?.readyReplicas === 2,
      )
      expect(simulator.calls().filter(({ operation }) => operation === 'edge-connect-update')).toEqual([])
    })

    it('goes from the tenant, and only then from the cluster', async () => {
      const { client, simulator, exists, namespace } = at()
      const fault = simulator.faults.add({ kind: 'status', status: 500, operation: 'edge-connect-delete' })
      await client.delete(EdgeConnects, key('made'))
      await at().until('a try', () => simulator.calls().some(({ operation }) => operation === 'edge-connect-delete'))
      expect((await read('made')).metadata.finalizers).toEqual(['server'])
      fault.remove()
      await at().until('the EdgeConnect to go', async () => !(await exists(EdgeConnects, namespace, 'made')))
      expect(known()).toEqual([])
      expect(tenant().settings.list()).toEqual([])
    })
  })
}
