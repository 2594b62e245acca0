/** An operator that converts its own resource, behind a Service that only sends requests to ready pods. */
import { type ReadyService, startReadyService } from '@reeve/cluster-under-test'
import { crdManifest, defineConversion, defineCrd } from '@reeve/crd'
import { ConfigMaps, CustomResourceDefinitions } from '@reeve/kube'
import { defineOperator, desired } from '@reeve/runtime'
import { conversionWebhook } from '@reeve/runtime/webhooks'
import { Type } from 'typebox'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openTestCluster, type TestCluster } from './support/test-cluster.ts'

const group = 'conversion.example.com'
const v1 = { spec: Type.Object({ retention: Type.Integer() }) }
const v2 = { spec: Type.Object({ retentionDays: Type.Integer({ default: 7 }) }) }
const about = { group, kind: 'Backup', plural: 'backups', scope: 'Namespaced' } as const
/** The first release, which had one version. */
const FirstCrd = defineCrd({ ...about, versions: { v1 } })
const BackupCrd = defineCrd({ ...about, versions: { v2: { ...v2, storage: true }, v1 } })
const Backups = BackupCrd.resource('v2')

const convert = defineConversion(BackupCrd, 'v2', {
  v1: {
    toHub: ({ metadata, spec }) => ({
      apiVersion: `${group}/v2`,
      kind: 'Backup',
      metadata,
      spec: { retentionDays: spec.retention },
    }),
    fromHub: ({ metadata, spec }) => ({
      apiVersion: `${group}/v1`,
      kind: 'Backup',
      metadata,
      spec: { retention: spec.retentionDays },
    }),
  },
})

const operator = defineOperator({
  name: 'backups',
  crds: [crdManifest(BackupCrd)],
  webhooks: [conversionWebhook('/convert', [{ group, kind: 'Backup', convert }])],
  controllers: [
    {
      for: Backups,
      owns: [{ resource: ConfigMaps, labelSelector: 'app=backups' }],
      render: ({ metadata: { name, namespace }, spec }) => [
        desired(ConfigMaps, {
          metadata: { name, ...(namespace && { namespace }), labels: { app: 'backups' } },
          data: { days: String(spec.retentionDays) },
        }),
      ],
    },
  ],
})

let world: TestCluster
let service: ReadyService

beforeAll(async () => {
  world = await openTestCluster()
  service = await startReadyService()
  const { client, namespace } = world
  await client.create(CustomResourceDefinitions, crdManifest(FirstCrd))
  const first = {
    apiVersion: `${group}/v1`,
    kind: 'Backup',
    metadata: { namespace, name: 'old' },
    spec: { retention: 30 },
  }
  const create = () => client.create(FirstCrd.resource('v1'), first)
  await vi.waitFor(create, { timeout: 20_000 })
  for (const crd of operator.crds({ url: service.url })) {
    await client.apply(CustomResourceDefinitions, crd, { force: true })
  }
})

afterAll(async () => {
  await world.client.delete(CustomResourceDefinitions, { name: BackupCrd.name })
  await service[Symbol.asyncDispose]()
  await world.close()
})

/** Runs one replica for as long as `act` takes. */
async function withReplica(act: (readiness: (path?: string) => Promise<string>) => Promise<void>): Promise<void> {
  const { client, namespace } = world
  const local = { host: '127.0.0.1', port: 0 }
  const pod = operator.create({
    client,
    namespaces: [namespace],
    healthAddress: local,
    webhook: {
      address: local,
      certificate: { secret: { namespace, name: 'backups-tls' }, hosts: ['127.0.0.1'] },
    },
  })
  const stop = new AbortController()
  const running = pod.manager.run(stop.signal)
  service.pods.add(pod)
  try {
    await act(async (path = '/readyz?verbose') => {
      const { body = '' } = (await pod.manager.healthServer?.handle('GET', path)) ?? {}
      return body
    })
  } finally {
    service.pods.delete(pod)
    stop.abort()
    await running
  }
}

const daysOf = async (name: string) => {
  const { data } = await world.client.get(ConfigMaps, { namespace: world.namespace, name })
  return data?.days
}

test('an upgrade from one version to two converts what is stored, before any pod has filled its cache', async () => {
  await withReplica(async (readiness) => {
    await vi.waitFor(async () => expect(await daysOf('old')).toBe('30'), { timeout: 30_000, interval: 100 })
    await vi.waitFor(async () => expect(await readiness()).toMatch(/\[\+\]manager ok[\s\S]*\[\+\]cache ok/))
  })
})

test('the only replica starts again while the old version is stored', async () => {
  const { client, namespace } = world
  await client.delete(ConfigMaps, { namespace, name: 'old' })
  await withReplica(async () => {
    await vi.waitFor(async () => expect(await daysOf('old')).toBe('30'), { timeout: 30_000, interval: 100 })
  })
})
