/** The CRD of the chart is upgraded with the operator, and stays with all WebApps whatever happens to the release. */
import { fileURLToPath } from 'node:url'
import { crdLife, helmsToTry } from '@reeve/client-binaries'
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { connect, type DiscoveringClient } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebApps } from '../src/index.ts'
import { written } from '../src/testing/webapp.ts'
import { helmPath } from './support/chart.ts'
import { startInstalled } from './support/installed-operator.ts'

const helms = await helmsToTry()
const CHART = fileURLToPath(new URL('../chart', import.meta.url))

let cluster: ClusterUnderTest
let admin: DiscoveringClient

beforeAll(async () => {
  // Other suites need the CRD as it is.
  cluster = await openCluster({ isExclusive: true })
  admin = await connect({ kubeconfig: cluster.kubeconfigPath, fieldManager: 'crd-upgrade-test' })
})
afterAll(async () => {
  await admin.close()
  await cluster.close()
})

describe.skipIf(helmPath === undefined)('the CRD of the chart (skipped without helm)', () => {
  it.each(helms)('is upgraded by the operator and kept with all WebApps, by $name', async ({ path = '' }) => {
    const namespace = await cluster.createNamespace()
    const life = await crdLife({
      helm: path,
      kubeconfig: cluster.kubeconfigPath,
      client: admin,
      chart: CHART,
      set: ['webhook.enabled=false', `watchNamespaces={${namespace}}`],
      resource: WebApps,
      field: 'ingress',
      objects: [
        written('old', {}, { namespace }),
        written('new', { ingress: { host: 'new.example.com' } }, { namespace }),
      ],
      start: (release) => startInstalled(cluster, admin, release),
    })
    const kept = { hasField: true, objects: ['new with ingress', 'old without ingress'] }
    expect(life).toEqual({
      'after the first install': { hasField: false, objects: ['old without ingress'] },
      'after the upgrade, before the operator starts': { hasField: false, objects: ['old without ingress'] },
      'after the operator has started': kept,
      'after the rollback': kept,
      'after the uninstall': kept,
      'after another install': kept,
      'after an install of the earlier chart': kept,
    })
  })
})
