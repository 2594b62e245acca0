/**
 * Where charts and values come from: registries, repositories, addresses and Secrets, also when they change or become
 * unavailable.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ChartStore } from '@reeve/helm'
import { ChartServer, packChart } from '@reeve/helm/testing'
import { Deployments, Secrets } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { helmPath, type Stage, setStage } from './support/stage.ts'
import { condition, Tenants } from './support/tenants.ts'

const FILES = ['values.yaml', 'values.schema.json', 'deployment', 'secret', 'service', '_names'].map((file) =>
  file.startsWith('values') ? file : `templates/${file}.${file.startsWith('_') ? 'tpl' : 'yaml'}`,
)
const LOGIN = { username: 'jane', password: 'hunter2' }

describe.skipIf(helmPath === undefined)('a chart source (skipped without helm)', () => {
  let stage: Stage
  let tenants: Tenants
  let server: ChartServer
  const archives = new Map<string, Buffer>()

  beforeAll(async () => {
    stage = await setStage()
    tenants = new Tenants(stage)
    server = await ChartServer.start(LOGIN)
    const files = await Promise.all(
      FILES.map(async (file) => [file, await readFile(join(stage.charts, 'log-collector', file), 'utf8')] as const),
    )
    for (const version of ['1.0.0', '1.1.0']) {
      archives.set(version, packChart({ name: 'log-collector', version }, Object.fromEntries(files)))
    }
    publish('1.0.0')
    const { namespace } = stage
    await stage.client.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: 'charts' },
      stringData: { ...LOGIN, 'ca.crt': server.certificate },
    })
    const credentials = { namespace, name: 'charts' }
    await stage.startOperator({
      charts: new ChartStore(join(stage.charts, '..', 'downloads'), { env: {}, freshMs: 0 }),
      settings: {
        createdNamespaces: { clusterRole: 'cluster-admin' },
        clusters: {
          registry: { type: 'oci', location: server.oci('').replace(/\/$/, ''), credentials },
          repository: { type: 'repository', location: server.repository, credentials },
        },
        chartOverrides: true,
      },
      // How often sources and Secrets with values are read.
      checkIntervalMs: 500,
    })
  })
  afterAll(async () => {
    await stage?.close()
    await server?.[Symbol.asyncDispose]()
  })

  function publish(version: string): void {
    server.add('log-collector', version, archives.get(version) ?? Buffer.alloc(0))
  }

  test('may be a registry, whose newest version is installed automatically', async () => {
    await tenants.create('oci', 'replicas: 0', { spec: { cluster: 'registry' } })
    await tenants.create('pinned', 'replicas: 0', { spec: { cluster: 'registry' }, collector: { version: '1.0.0' } })
    const { status } = await stage.untilPhase('oci', 'Available', 1)
    expect(status).toMatchObject({ chart: 'log-collector-1.0.0', chartDigest: expect.stringMatching(/^sha256:/) })
    publish('1.1.0')
    const upgraded = await stage.untilPhase('oci', 'Available', 2)
    expect(upgraded.status?.chart).toBe('log-collector-1.1.0')
    expect(upgraded.status?.chartDigest).not.toBe(status?.chartDigest)
    expect((await stage.untilPhase('pinned', 'Available', 1)).status?.chart).toBe('log-collector-1.0.0')
  })

  test('may be that of the Collector itself, pinned by its digest', async () => {
    const { status } = await stage.untilPhase('pinned', 'Available', 1)
    const url = `${server.repository}/files/log-collector-1.0.0.tgz`
    const chart = { type: 'url', url, credentialsSecretName: 'charts' } as const
    const wrong = `sha256:${'0'.repeat(64)}`
    await tenants.create('own', 'replicas: 0', {
      collector: { chart: { ...chart, digest: wrong } },
      spec: { cluster: 'registry' },
    })
    expect(await tenants.untilReason('own', 'Degraded', 'HelmDigestMismatch')).toContain(wrong)
    await tenants.patch('own', { collector: { chart: { ...chart, digest: status?.chartDigest } } })
    const { status: own } = await stage.untilPhase('own', 'Available', 1)
    expect(own?.chartDigest).toBe(status?.chartDigest)
  })

  test('is combined with values of a Secret, which are updated and never shown', async () => {
    const { client, namespace } = stage
    const values = (yaml: string) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: 'values' },
      stringData: { 'values.yaml': yaml },
    })
    const parts = { collector: { configurationFrom: { secretName: 'values', key: 'values.yaml' } } }
    await tenants.create('secret', 'replicas: 0\nport: 9000', { ...parts, spec: { cluster: 'registry' } })
    expect(await tenants.untilReason('secret', 'Degraded', 'InvalidConfiguration')).toMatch(
      /spec\.collector\.configurationFrom: Secret values does not exist in .*: create it/,
    )
    // After a failure the operator retries in seconds; a change of the Collector causes a reconcile immediately.
    const reconcileNow = (id: string) => tenants.patch('secret', { tenant: { id } })
    await client.create(Secrets, values('pipeline: {password: swordfish}'))
    await reconcileNow('43')
    const first = await stage.untilPhase('secret', 'Available', 1)
    expect(await stage.helm.values(tenants.releaseOf('secret'))).toEqual({
      replicas: 0,
      port: 9000,
      pipeline: { password: 'swordfish' },
    })
    await client.apply(Secrets, values('port: swordfish'), { force: true, fieldManager: 'test' })
    await tenants.untilReason('secret', 'Degraded', 'HelmValuesRefused')
    expect(JSON.stringify(await tenants.get('secret'))).not.toContain('swordfish')
    await client.apply(Secrets, values('port: 9001'), { force: true, fieldManager: 'test' })
    await reconcileNow('44')
    const second = await stage.untilPhase('secret', 'Available', 2)
    expect(second.status?.valuesDigest).not.toBe(first.status?.valuesDigest)
  })

  test('that is down is replaced by the cache, which the status names', async () => {
    await tenants.create('down', 'replicas: 0', { spec: { cluster: 'repository' } })
    await stage.untilPhase('down', 'Available', 1)
    await server.stop()
    await tenants.configure('down', 'replicas: 1')
    await stage.untilPhase('down', 'Available', 2)
    expect((await stage.client.get(Deployments, tenants.releaseOf('down'))).spec?.replicas).toBe(1)
    expect(await tenants.untilReason('down', 'Progressing', 'ChartFromCache')).toMatch(/using the cached chart: .*127/)
    // What was never fetched cannot come from the cache, and the release is not changed.
    await tenants.patch('down', { collector: { version: '1.0.0' } })
    expect(await tenants.untilReason('down', 'Degraded', 'HelmChartUnreachable')).toContain(server.repository)
    expect(condition(await tenants.get('down'), 'Available')?.status).toBe('True')
    expect(await tenants.statuses('down')).toEqual(['superseded', 'deployed'])
  })
})
