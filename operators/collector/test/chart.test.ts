/** The chart of the operator: what it renders is accepted by a cluster. */
import { fileURLToPath } from 'node:url'
import { findClientBinary } from '@reeve/client-binaries'
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { findHelm, manifestObjects, openHelm } from '@reeve/helm'
import { connect, loadConfig } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseSettings } from '../src/index.ts'

const CHART = fileURLToPath(new URL('../chart', import.meta.url))
const helmPath = await findClientBinary('helm')

describe.skipIf(helmPath === undefined)('the chart (skipped where there is no helm)', () => {
  let cluster: ClusterUnderTest

  beforeAll(async () => {
    cluster = await openCluster()
  })
  afterAll(() => cluster?.close())

  test('renders objects that a cluster accepts, with settings that the operator can read', async () => {
    const config = await loadConfig({ kubeconfig: cluster.kubeconfigPath })
    await using helm = await openHelm(await findHelm({ env: { HELM_BIN: helmPath } }), config)
    const namespace = await cluster.createNamespace()
    const settings = { clusters: { production: { type: 'repository', location: 'https://charts.example.com' } } }
    const manifest = await helm.template({ namespace, name: 'collectors' }, { path: CHART }, { values: { settings } })
    const objects = manifestObjects(manifest)
    const client = await connect({ kubeconfig: cluster.kubeconfigPath, fieldManager: 'test' })
    for (const object of objects) {
      const resource = await client.resourceFor(object)
      await client.apply(resource, object, { dryRun: true, force: true, fieldValidation: 'Strict' })
    }
    await client.close()
    const text = objects.find(({ kind }) => kind === 'ConfigMap')?.data as { readonly 'settings.yaml': string }
    expect(parseSettings(text['settings.yaml'])).toMatchObject(settings)
    expect(objects.map(({ kind }) => kind)).toContain('ValidatingWebhookConfiguration')
  })
})
