/** Plans for EdgeConnects: what the operator would make in the cluster and in the tenant. */
import { isNotFound, type KubeObject, Secrets } from '@reeve/kube'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { EdgeConnects } from '../../src/api/latest.ts'
import { encodeSecret } from '../../src/controllers/rendering/secret-data.ts'
import { NAMESPACE } from '../dynakube/support/stage.ts'
import { errorsOf, idOf, PlanStage } from './support/plan-stage.ts'

const TENANT = 'edge'

let plans: PlanStage

beforeAll(async () => {
  plans = await PlanStage.set([TENANT])
  const { simulator, client } = plans.stage
  const [oauth] = simulator.tenant(TENANT).oauth.list()
  await client.create(Secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: NAMESPACE, name: 'client' },
    data: encodeSecret({ 'oauth-client-id': oauth?.id ?? '', 'oauth-client-secret': oauth?.secret ?? '' }),
  })
})
afterAll(() => plans?.[Symbol.asyncDispose]())

function edgeConnect(hostPatterns: readonly string[]): KubeObject {
  const { simulator } = plans.stage
  return {
    apiVersion: 'dynatrace.com/v1alpha2',
    kind: 'EdgeConnect',
    metadata: { namespace: NAMESPACE, name: 'office' },
    spec: {
      apiServer: simulator.authority,
      hostPatterns,
      oauth: {
        clientSecret: 'client',
        endpoint: simulator.tokenUrl,
        resource: `urn:dtenvironment:${TENANT}`,
        provisioner: true,
      },
      kubernetesAutomation: { enabled: true },
      caCertsRef: 'tenant',
      imageRef: { repository: 'registry.example.com/edgeconnect', tag: '1' },
    },
  } as KubeObject // the spec is its own
}

/** Its pods do not run, as there is no service account for them here. */
const isDeployed = async () =>
  plans.stage.client.get(EdgeConnects, { namespace: NAMESPACE, name: 'office' }).then(
    ({ status }) => status?.phase === 'Deploying',
    (error: unknown) => {
      if (isNotFound(error)) return false
      throw error
    },
  )

it('a plan for an EdgeConnect names what would be created in the cluster and the tenant', async () => {
  const plan = await plans.plan([edgeConnect(['*.internal.org'])])
  expect(errorsOf(plan)).toEqual([])
  expect(plan.changes.map((change) => [change.action, change.component, idOf(change)])).toEqual([
    ['create', 'files', `EdgeConnect/${NAMESPACE}/office`],
    ['create', 'EdgeConnect', `Deployment/${NAMESPACE}/office`],
    ['create', 'EdgeConnect', `Secret/${NAMESPACE}/office-client`],
    ['create', 'EdgeConnect', `Secret/${NAMESPACE}/office-ec-yaml`],
  ])
  const { authority } = plans.stage.simulator
  expect(plan.tenant).toEqual([
    { action: 'create', what: 'EdgeConnect office and its OAuth client', tenant: authority },
    {
      action: 'create',
      what: 'setting app:dynatrace.kubernetes.connector:connection "office"',
      tenant: authority,
    },
  ])
  expect(plans.stage.simulator.tenant(TENANT).edgeConnects.list()).toEqual([])
})

it('a plan for an EdgeConnect has no changes once the operator is done', async () => {
  await plans.stage.client.create(EdgeConnects, edgeConnect(['*.internal.org']) as never)
  await plans.stage.until(isDeployed)
  const { changes, tenant } = await plans.plan([edgeConnect(['*.internal.org'])])
  expect([changes, tenant]).toEqual([[], []])
})

it('a plan for an EdgeConnect shows what an edit changes in the tenant', async () => {
  const { changes, tenant } = await plans.plan([edgeConnect(['*.internal.org', '*.example.org'])])
  expect(changes.map(({ action, kind }) => [action, kind])).toEqual([['change', 'EdgeConnect']])
  expect(tenant).toEqual([{ action: 'change', what: 'EdgeConnect office', tenant: plans.stage.simulator.authority }])
})
