import { ApiError, type KubeClient } from '@reeve/kube'
import { type CacheReader, silentLogger } from '@reeve/runtime'
import { expect, test } from 'vitest'
import type { EdgeConnect } from '../../../../api/latest.ts'
import { createPlatformClient } from '../../../../tenant/client/platform/platform-client.ts'
import { SimulatedTenants } from '../../../../tenant/simulator/simulated-tenants.ts'
import { NamespaceView } from '../../../references/namespace-view.ts'
import { encodeSecret } from '../../../rendering/secret-data.ts'
import { CLIENT_KEYS, connectAutomation, disconnectAutomation, type ProvisionedClient, provision } from './provision.ts'

/** A tenant, an operator whose view shows nothing, and what the server has. */
function setUp() {
  const simulator = new SimulatedTenants({ tenants: [{ id: 'tenant' }] })
  const { authority, tokenUrl, sender } = simulator
  const { edgeConnects, oauth, settings } = simulator.tenant('tenant')
  const [{ id = '', secret = '' } = {}] = oauth.list()
  const oauthClient = { endpoint: tokenUrl, clientId: id, clientSecret: secret }
  const platform = createPlatformClient({
    apiServer: authority,
    oauth: oauthClient,
    hasKubernetesAutomation: true,
    sender,
    env: {},
  })
  // Only the calls used here.
  const view = new NamespaceView({ get: () => undefined } as Partial<CacheReader> as CacheReader, 'dynatrace')
  const edgeConnect: EdgeConnect = {
    apiVersion: 'dynatrace.com/v1alpha2',
    kind: 'EdgeConnect',
    metadata: { namespace: 'dynatrace', name: 'office' },
    spec: {
      apiServer: authority,
      hostPatterns: ['*.internal'],
      oauth: { provisioner: true, clientSecret: 'login', endpoint: tokenUrl, resource: 'urn:dtenvironment:tenant' },
    },
  }
  const provisionOnce = (kept?: ProvisionedClient, requireLive: () => Promise<void> = async () => undefined) => {
    const get = async () => {
      if (kept === undefined) throw new ApiError({ verb: 'get' }, 404)
      const { edgeConnectId, ...client } = kept
      return {
        data: encodeSecret({
          [CLIENT_KEYS.edgeConnectId]: edgeConnectId,
          [CLIENT_KEYS.id]: client.id,
          [CLIENT_KEYS.secret]: client.secret,
          [CLIENT_KEYS.resource]: client.resource,
        }),
      }
    }
    return provision(edgeConnect, { ...context, client: { get } as unknown as KubeClient, requireLive })
  }
  const context = {
    ...{ platform, view, client: {} as KubeClient, clusterId: 'cluster', requireLive: async () => undefined },
    ...{ logger: silentLogger, signal: new AbortController().signal },
  }
  return { provisionOnce, edgeConnects, oauth, settings, edgeConnect, context }
}

test('what the server has counts, not that the view does not show it yet', async () => {
  const { provisionOnce, edgeConnects } = setUp()
  const made = await provisionOnce()
  expect(await provisionOnce(made)).toEqual(made)
  expect(edgeConnects.list().map(({ id }) => id)).toEqual([made.edgeConnectId])
})

test('an EdgeConnect whose client is lost is created again, and leaves no client behind', async () => {
  const { provisionOnce, edgeConnects, oauth } = setUp()
  const lost = await provisionOnce()
  const made = await provisionOnce()
  expect(made.edgeConnectId).not.toBe(lost.edgeConnectId)
  expect(edgeConnects.list().map(({ id }) => id)).toEqual([made.edgeConnectId])
  expect(oauth.list().map(({ id }) => id)).toContain(made.id)
  expect(oauth.list()).toHaveLength(2)
})

test('for an EdgeConnect that was deleted meanwhile nothing is created or replaced in the tenant', async () => {
  const { provisionOnce, edgeConnects, oauth } = setUp()
  const isDeleted = () => Promise.reject(new Error('deleted'))
  await expect(provisionOnce(undefined, isDeleted)).rejects.toThrow('deleted')
  expect(edgeConnects.list()).toEqual([])
  const made = await provisionOnce()
  await expect(provisionOnce(undefined, isDeleted)).rejects.toThrow('deleted')
  expect(edgeConnects.list().map(({ id }) => id)).toEqual([made.edgeConnectId])
  expect(oauth.list().map(({ id }) => id)).toContain(made.id)
})

test('a connection is found again when the status with the cluster was never written', async () => {
  const { edgeConnect, context, settings } = setUp()
  await connectAutomation({ ...edgeConnect, status: { kubeSystemUID: 'cluster' } }, 'token', context)
  expect(settings.list()).toHaveLength(1)
  await disconnectAutomation(edgeConnect, context)
  expect(settings.list()).toEqual([])
})
