/** Releases of the WebApp and Collector charts, upgraded by the real helm. */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findClientBinary } from '@reeve/client-binaries'
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { connect, type DiscoveringClient, Leases, Secrets } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { absolutePath } from '../src/generated-files.ts'

const helmPath = await findClientBinary('helm')

let folder: string
let cluster: ClusterUnderTest
let admin: DiscoveringClient

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-upgrades-'))
  cluster = await openCluster()
  admin = await connect({ kubeconfig: cluster.kubeconfigPath, fieldManager: 'upgrade-test' })
})
afterAll(async () => {
  await admin.close()
  await cluster.close()
  await rm(folder, { recursive: true, force: true })
})

/** Rejects with the message of helm. */
async function helm(verb: string, release: string, namespace: string, ...args: string[]): Promise<void> {
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfigPath, HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder }
  await promisify(execFile)(helmPath ?? '', [verb, release, ...args, '-n', namespace, '--skip-crds'], { env })
  const clusterScoped = {
    'rbac.authorization.k8s.io': ['clusterroles', 'clusterrolebindings'],
    'admissionregistration.k8s.io': ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
  }
  for (const [group, resources] of Object.entries(clusterScoped)) {
    for (const resource of resources) cluster.removeAtClose(`/apis/${group}/v1/${resource}/${release}`)
  }
}

/** Other suites use the same cluster, and nobody responds to the webhooks of these releases. */
const OWN_NAMESPACE: Readonly<Record<string, (namespace: string) => string>> = {
  webapp: (namespace) => `--set=watchNamespaces={${namespace}}`,
  collector: (namespace) => `--set=watchNamespace=${namespace}`,
}

describe.skipIf(helmPath === undefined)('releases (skipped without helm)', () => {
  describe.concurrent.each(Object.entries(OWN_NAMESPACE))('of the %s chart', (operator, only) => {
    const chart = absolutePath(`operators/${operator}/chart`)
    /** Two suites may run on one cluster, and roles have the name of the release. */
    const releaseIn = (namespace: string) => `${operator}-${namespace.slice(-4)}`
    const leaseIn = (namespace: string) => ({ namespace, name: `${operator}-operator` })
    const certificateIn = (namespace: string) => ({ namespace, name: `${releaseIn(namespace)}-certificate` })
    /** As an operator does it that finds neither. */
    async function createAsOperator(namespace: string): Promise<void> {
      const apiVersion = 'coordination.k8s.io/v1'
      const spec = { holderIdentity: 'pod-1' }
      await admin.create(Leases, { apiVersion, kind: 'Lease', metadata: leaseIn(namespace), spec })
      const data = { 'ca.crt': Buffer.from('trusted').toString('base64') }
      await admin.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: certificateIn(namespace), data })
    }

    it('from a chart that left Lease and certificate to the operator keep both as they are', async () => {
      const namespace = await cluster.createNamespace()
      const release = releaseIn(namespace)
      const earlier = join(folder, `${operator}-earlier`)
      await cp(chart, earlier, { recursive: true })
      await rm(join(earlier, 'templates/kept.yaml'))
      await helm('install', release, namespace, earlier, only(namespace))
      await createAsOperator(namespace)
      await helm('upgrade', release, namespace, chart, only(namespace))
      expect((await admin.get(Leases, leaseIn(namespace))).spec?.holderIdentity).toBe('pod-1')
      expect((await admin.get(Secrets, certificateIn(namespace))).data).toHaveProperty(['ca.crt'])
    })

    it('from the present chart keep what the operator wrote into them', async () => {
      const namespace = await cluster.createNamespace()
      const release = releaseIn(namespace)
      await helm('install', release, namespace, chart, only(namespace))
      const patch = { data: { 'ca.crt': Buffer.from('trusted').toString('base64') } }
      await admin.patch(Secrets, certificateIn(namespace), { type: 'merge', patch })
      await helm('upgrade', release, namespace, chart, only(namespace), '--set=replicas=1')
      expect((await admin.get(Secrets, certificateIn(namespace))).data).toEqual(patch.data)
    })
  })
})
