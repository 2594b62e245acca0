/** The CRD of the chart is upgraded with the operator, and stays with all Collectors whatever happens to the release. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { crdLife, helmsToTry } from '@reeve/client-binaries'
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { connect, type DiscoveringClient } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type Collector, Collectors } from '../src/index.ts'
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
  it.each(helms)('is upgraded by the operator and kept with all Collectors, by $name', async ({ path = '' }) => {
    const namespace = await cluster.createNamespace()
    const sample: Collector = parse(await readFile(new URL('../samples/acme.yaml', import.meta.url), 'utf8'))
    const collector = (name: string, spec: object = {}): Collector => ({
      ...sample,
      metadata: { namespace, name },
      spec: { ...sample.spec, ...spec },
    })
    const life = await crdLife({
      helm: path,
      kubeconfig: cluster.kubeconfigPath,
      client: admin,
      chart: CHART,
      // A Collector whose namespace is not watched has no finalizer, which would keep the CRD from being deleted at the end.
      set: ['webhook.enabled=false', 'watchNamespace=default'],
      resource: Collectors,
      field: 'serviceAccountName',
      objects: [collector('old'), collector('new', { serviceAccountName: 'collector' })],
      start: (release) => startInstalled(cluster, release),
    })
    const kept = { hasField: true, objects: ['new with serviceAccountName', 'old without serviceAccountName'] }
    expect(life).toEqual({
      'after the first install': { hasField: false, objects: ['old without serviceAccountName'] },
      'after the upgrade, before the operator starts': { hasField: false, objects: ['old without serviceAccountName'] },
      'after the operator has started': kept,
      'after the rollback': kept,
      'after the uninstall': kept,
      'after another install': kept,
      'after an install of the earlier chart': kept,
    })
  })
})
