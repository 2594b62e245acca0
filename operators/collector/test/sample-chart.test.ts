/** The sample chart with a kind that not every cluster serves: on a separate cluster that serves it. */
import { type CustomResourceDefinition, CustomResourceDefinitions, isNotFound } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { helmPath, type Stage, setStage } from './support/stage.ts'
import { Tenants } from './support/tenants.ts'

const GROUP = 'monitoring.coreos.com'
const SERVICE_MONITOR = { apiVersion: `${GROUP}/v1`, kind: 'ServiceMonitor' }

const CRD: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `servicemonitors.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'servicemonitors', kind: 'ServiceMonitor' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}

describe.skipIf(helmPath === undefined)('the sample chart (skipped without helm)', () => {
  let stage: Stage
  let tenants: Tenants

  beforeAll(async () => {
    stage = await setStage()
    tenants = new Tenants(stage)
    await stage.client.create(CustomResourceDefinitions, CRD)
    await stage.until(() =>
      stage.client.resourceFor(SERVICE_MONITOR).then(
        () => true,
        () => false,
      ),
    )
    await stage.startOperator({ checkIntervalMs: 500 })
  })
  afterAll(() => stage?.close())

  test('has a service monitor, which is restored when it is deleted, and uninstalled with the release', async () => {
    const monitor = async () =>
      stage.client.get(await stage.client.resourceFor(SERVICE_MONITOR), tenants.releaseOf('a'))
    await tenants.create('a', 'replicas: 0', { spec: { drift: 'Heal' } })
    await stage.untilPhase('a', 'Available', 1)
    expect((await monitor()).spec).toMatchObject({ endpoints: [{ port: 'metrics', interval: '30s' }] })
    await stage.client.delete(await stage.client.resourceFor(SERVICE_MONITOR), tenants.releaseOf('a'))
    await stage.untilPhase('a', 'Available', 2)
    expect((await monitor()).kind).toBe('ServiceMonitor')
    await tenants.remove('a')
    await stage.until(() => tenants.isGone('a'))
    await expect(monitor()).rejects.toSatisfy(isNotFound)
  })
})
