/** The chart as a release of the real helm: installed, upgraded and uninstalled on a cluster. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import { systemClock } from '@reeve/http'
import {
  ClusterRoles,
  CustomResourceDefinitions,
  connect,
  Deployments,
  Jobs,
  type KubeClient,
  ServiceAccounts,
} from '@reeve/kube'
import { silentLogger } from '@reeve/runtime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CRDS, DynaKubeCrd, firstCertificates } from '../../src/index.ts'
import { helmPath } from '../support/render-chart.ts'

const CHART = fileURLToPath(new URL('../../chart', import.meta.url))
const NAMESPACE = 'observability'

/** More than helm is given. */
const PATIENCE_MS = 150_000

let folder: string
let cluster: EmbeddedCluster
let client: KubeClient
let kubeconfig: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-release-'))
  cluster = await startEmbeddedCluster({ authorization: 'RBAC', nodes: 3 })
  kubeconfig = join(folder, 'kubeconfig')
  await cluster.writeKubeconfig(kubeconfig)
  client = await connect({ kubeconfig, fieldManager: 'dynatrace-operator' })
})
afterAll(async () => {
  await client?.close()
  await cluster?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Rejects with what helm says. */
async function helm(...args: string[]): Promise<string> {
  const env = { ...process.env, KUBECONFIG: kubeconfig, HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder }
  const { stdout } = await promisify(execFile)(helmPath ?? '', [...args, '-n', NAMESPACE], { env })
  return stdout
}

/** The CA bundle of the conversion webhook of a CRD. */
async function authorityOf(name: string): Promise<string | undefined> {
  const { spec } = await client.get(CustomResourceDefinitions, { name })
  return spec.conversion?.webhook?.clientConfig?.caBundle
}

/** As the operator does it; returns what it wrote. */
async function distributeAuthority(): Promise<string | undefined> {
  const signal = AbortSignal.timeout(60_000)
  await firstCertificates(NAMESPACE, { client, clock: systemClock, logger: silentLogger, signal })
  return authorityOf(DynaKubeCrd.name)
}

/** Everything in the cluster that says it came with the chart. */
async function ofRelease(): Promise<readonly string[]> {
  const labelSelector = 'app.kubernetes.io/name=dynatrace-operator'
  const kinds = [CustomResourceDefinitions, ClusterRoles, Deployments, ServiceAccounts, Jobs]
  const lists = await Promise.all(kinds.map((kind) => client.list(kind, { labelSelector, metadataOnly: true })))
  return lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.name))
}

describe.skipIf(helmPath === undefined)('a release (skipped without helm)', { timeout: PATIENCE_MS }, () => {
  it('is installed, and its pods come up', async () => {
    await helm('install', 'dynatrace-operator', CHART, '--create-namespace', '--wait', '--timeout=2m')
    const { items } = await client.list(Deployments, { namespace: NAMESPACE })
    expect(items.map(({ metadata, status }) => [metadata.name, status?.readyReplicas])).toEqual([
      ['dynatrace-operator', 1],
      ['dynatrace-webhook', 2],
    ])
    for (const { name } of CRDS) {
      const { metadata } = await client.get(CustomResourceDefinitions, { name }, { metadataOnly: true })
      expect(metadata.labels?.['app.kubernetes.io/version']).toBe('0.1.0')
    }
    // Hooks of upgrades are not part of an installation.
    expect((await ofRelease()).filter((name) => name.includes('migration'))).toEqual([])
  })

  it('is upgraded after the migration, which leaves nothing behind', async () => {
    const bundle = await distributeAuthority()
    expect(bundle).toBeTruthy()
    const deleted: (string | undefined)[] = []
    const stop = cluster.requests.onRequest(({ verb, resource, name, status }) => {
      if (verb === 'delete' && resource === 'jobs.batch' && status === 200) deleted.push(name)
    })
    await helm('upgrade', 'dynatrace-operator', CHART, '--set=debugLogs=true', '--wait', '--timeout=2m')
    stop()
    // Helm deletes it when it has succeeded, and stops if it fails.
    expect(deleted).toContain('dynatrace-operator-crd-storage-migration')
    expect((await ofRelease()).filter((name) => name.includes('migration'))).toEqual([])
    const { spec } = await client.get(Deployments, { namespace: NAMESPACE, name: 'dynatrace-operator' })
    const variables = spec?.template.spec?.containers[0]?.env?.map(({ name }) => name)
    expect(variables).toContain('LOG_LEVEL')
    // What the operator and the cluster wrote into objects of the release is still there.
    expect(await authorityOf(DynaKubeCrd.name)).toBe(bundle)
    const { rules } = await client.get(ClusterRoles, { name: 'dynatrace-kubernetes-monitoring' })
    expect(rules?.length).toBeGreaterThan(10)
  })

  it('takes everything with it', async () => {
    await helm('uninstall', 'dynatrace-operator', '--wait', '--timeout=2m')
    expect(await ofRelease()).toEqual([])
  })
})
