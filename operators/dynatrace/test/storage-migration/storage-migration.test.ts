/** Stored DynaKubes are rewritten after the CRD stores another version. */
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import type { TransportRequest } from '@reeve/http'
import { SimulatedClock } from '@reeve/http/testing'
import {
  ConnectionError,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  createClient,
  Deployments,
  type KubeClient,
  Namespaces,
  resource,
} from '@reeve/kube'
import { silentLogger } from '@reeve/runtime'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  firstStorageMigration,
  MIGRATION_RETRY_MS,
} from '../../src/controllers/storage-migration/first-storage-migration.ts'
import { migrateStorage, StorageMigrationError } from '../../src/controllers/storage-migration/migrate-storage.ts'
import { convertRoute, crdManifests, DynaKubeCrd, DynaKubes, WEBHOOK_NAME } from '../../src/index.ts'

const NAMESPACE = 'dynatrace'
const { name: CRD } = DynaKubeCrd

let cluster: EmbeddedCluster
let client: KubeClient
let writes: string[]
/** Makes a write fail: returns the status of the failure. */
let refuse: (request: TransportRequest) => number | undefined
const tenant = () => ({ client, logger: silentLogger, signal: AbortSignal.timeout(60_000) })

beforeEach(async () => {
  const route = convertRoute()
  writes = []
  refuse = () => undefined
  cluster = await startEmbeddedCluster({
    listen: false,
    authorization: 'AlwaysAllow',
    controllers: false,
    callWebhook: ({ url, review, signal }) =>
      new URL(url).pathname === route.path ? route.respond(review, signal) : undefined,
  })
  const send = async (request: TransportRequest) => {
    if (request.method === 'GET') return cluster.handle(request)
    const status = refuse(request)
    const [path = ''] = request.path.split('?')
    if (status === undefined) writes.push(`${request.method} ${path.split('/').slice(-3).join('/')}`)
    if (status === undefined) return cluster.handle(request)
    const reason = status === 409 ? 'Conflict' : 'InternalError'
    const text = JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, reason })
    return { status, headers: { 'content-type': 'application/json' }, body: bytes(text) }
  }
  client = createClient({ transport: { send, close: async () => undefined } })
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
})
afterEach(() => cluster.stop())

async function* bytes(text: string) {
  yield Buffer.from(text)
}

/** The CRD with another version that is stored. */
function definition(stored: string): CustomResourceDefinition {
  const manifest = crdManifests().find(({ metadata }) => metadata.name === CRD)
  // The manifest keeps its spec open; the cluster checks it.
  const crd = manifest as unknown as CustomResourceDefinition
  const versions = crd.spec.versions.map((version) => ({ ...version, storage: version.name === stored }))
  return { ...crd, spec: { ...crd.spec, versions } }
}

const storedVersions = async () => (await readCrd()).status?.storedVersions
const readCrd = () => client.get(CustomResourceDefinitions, { name: CRD })

/** Two DynaKubes that were stored by a former release, under the CRD of this one. */
async function upgraded(): Promise<void> {
  await client.create(CustomResourceDefinitions, definition('v1beta5'))
  for (const name of ['one', 'two']) await create(name)
  const crd = await readCrd()
  await client.update(CustomResourceDefinitions, { ...crd, spec: definition('v1beta6').spec })
  writes.length = 0
}

const create = (name: string) =>
  client.create(resource({ ...DynaKubes, version: 'v1beta5' }), {
    apiVersion: 'dynatrace.com/v1beta5',
    kind: 'DynaKube',
    metadata: { namespace: NAMESPACE, name },
    ...{ spec: { apiUrl: 'https://abc12345.live.dynatrace.com/api' } },
  })

const REWRITES = ['PUT dynatrace/dynakubes/one', 'PUT dynatrace/dynakubes/two']
const NOTE = `PUT customresourcedefinitions/${CRD}/status`

describe('a migration', () => {
  it('rewrites every DynaKube and then says that only the new version is stored', async () => {
    await upgraded()
    expect(await storedVersions()).toEqual(['v1beta5', 'v1beta6'])
    await migrateStorage(NAMESPACE, tenant())
    expect(writes).toEqual([...REWRITES, NOTE])
    expect(await storedVersions()).toEqual(['v1beta6'])
  })

  it('writes nothing when only the new version is stored', async () => {
    await upgraded()
    await migrateStorage(NAMESPACE, tenant())
    writes.length = 0
    await migrateStorage(NAMESPACE, tenant())
    expect(writes).toEqual([])
  })

  it('has nothing to do without a CRD', async () => {
    writes.length = 0
    await migrateStorage(NAMESPACE, tenant())
    expect(writes).toEqual([])
  })

  it('fails when the CRD cannot be read', async () => {
    await upgraded()
    const failure = new ConnectionError('connect ECONNREFUSED', 'connect')
    const broken: KubeClient = { ...client, get: () => Promise.reject(failure) }
    await expect(migrateStorage(NAMESPACE, { ...tenant(), client: broken })).rejects.toBe(failure)
    expect(writes).toEqual([])
  })

  it('fails when the CRD stores no version', async () => {
    await upgraded()
    const crd = await readCrd()
    const versions = crd.spec.versions.map((version) => ({ ...version, storage: false }))
    const broken: KubeClient = { ...client, get: async () => ({ ...crd, spec: { ...crd.spec, versions } }) as never }
    await expect(migrateStorage(NAMESPACE, { ...tenant(), client: broken })).rejects.toThrow(/stores no version/)
    expect(writes).toEqual([])
  })

  it('names the DynaKube that cannot be rewritten and keeps the stored versions, and is completed by the next', async () => {
    await upgraded()
    refuse = ({ path }) => (path.includes('/two') ? 422 : undefined)
    await expect(migrateStorage(NAMESPACE, tenant())).rejects.toThrow(StorageMigrationError)
    await expect(migrateStorage(NAMESPACE, tenant())).rejects.toThrow(/DynaKube dynatrace\/two .* v1beta6/)
    expect(await storedVersions()).toEqual(['v1beta5', 'v1beta6'])
    refuse = () => undefined
    await migrateStorage(NAMESPACE, tenant())
    expect(await storedVersions()).toEqual(['v1beta6'])
  })

  it('accepts a DynaKube that is written concurrently', async () => {
    await upgraded()
    refuse = ({ path }) => (path.includes('/one') ? 409 : undefined)
    await migrateStorage(NAMESPACE, tenant())
    expect([writes, await storedVersions()]).toEqual([[REWRITES[1], NOTE], ['v1beta6']])
  })

  it('starts again when the CRD changed meanwhile', async () => {
    await upgraded()
    let conflicts = 1
    refuse = ({ path }) => (path.includes('/status') && conflicts-- > 0 ? 409 : undefined)
    await migrateStorage(NAMESPACE, tenant())
    expect(writes).toEqual([...REWRITES, ...REWRITES, NOTE])
    expect(await storedVersions()).toEqual(['v1beta6'])
  })

  it('fails for a CRD that changes all the time', async () => {
    await upgraded()
    refuse = ({ path }) => (path.includes('/status') ? 409 : undefined)
    await expect(migrateStorage(NAMESPACE, tenant())).rejects.toThrow(/could not be written/)
  })
})

describe('the migration at the start of the operator', () => {
  const webhook = (readyReplicas: number) => ({ replicas: 2, readyReplicas })

  async function install(): Promise<void> {
    const labels = { app: 'webhook' }
    await client.create(Deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: NAMESPACE, name: WEBHOOK_NAME },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'webhook', image: 'webhook' }] } },
      },
    })
  }
  async function ready(count: number): Promise<void> {
    const deployment = await client.get(Deployments, { namespace: NAMESPACE, name: WEBHOOK_NAME })
    await client.update(Deployments, { ...deployment, status: webhook(count) }, { subresource: 'status' })
    writes.length = 0
  }
  /** Waits until the step sleeps. */
  async function asleep(clock: SimulatedClock): Promise<void> {
    while (clock.pendingTimers === 0) await new Promise((resolve) => setImmediate(resolve))
  }

  it('does not wait for the webhook when there is nothing to migrate', async () => {
    await client.create(CustomResourceDefinitions, definition('v1beta6'))
    await firstStorageMigration(NAMESPACE, { ...tenant(), clock: new SimulatedClock() })
    expect(await storedVersions()).toEqual(['v1beta6'])
  })

  it('tries again every ten seconds until all pods of the webhook are ready', async () => {
    const clock = new SimulatedClock()
    await upgraded()
    const done = firstStorageMigration(NAMESPACE, { ...tenant(), clock })
    await asleep(clock)
    await install()
    for (const count of [0, 1]) {
      await ready(count)
      await clock.advance(MIGRATION_RETRY_MS)
      await asleep(clock)
      expect(writes).toEqual([])
    }
    await ready(2)
    await clock.advance(MIGRATION_RETRY_MS)
    await done
    expect([writes, await storedVersions()]).toEqual([[...REWRITES, NOTE], ['v1beta6']])
  })

  it('tries again after a failure', async () => {
    const clock = new SimulatedClock()
    await upgraded()
    await install()
    await ready(2)
    refuse = () => 422
    const done = firstStorageMigration(NAMESPACE, { ...tenant(), clock })
    await asleep(clock)
    refuse = () => undefined
    await clock.advance(MIGRATION_RETRY_MS)
    await done
    expect(await storedVersions()).toEqual(['v1beta6'])
  })

  it('ends when it is aborted', async () => {
    const clock = new SimulatedClock()
    await upgraded()
    const stop = new AbortController()
    const done = firstStorageMigration(NAMESPACE, { ...tenant(), clock, signal: stop.signal })
    await asleep(clock)
    stop.abort(new Error('stopped by the test'))
    await expect(done).rejects.toThrow('stopped by the test')
  })
})
