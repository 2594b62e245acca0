/** Installing agents on a node, against a tenant, its registry and a cluster. */
import { chmod, lstat, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeZip } from '@reeve/archives/testing'
import { Jobs } from '@reeve/kube'
import { silentLogger } from '@reeve/runtime'
import { createMetricsRegistry } from '@reeve/runtime/metrics'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DynaKubes } from '../../src/api/latest.ts'
import { networkConnections } from '../../src/csi/provisioner/connections.ts'
import { jobName } from '../../src/csi/provisioner/download-job.ts'
import { parseJobSettings } from '../../src/csi/provisioner/job-settings.ts'
import { createProvisioner } from '../../src/csi/provisioner/provisioner.ts'
import { provisionerMetrics } from '../../src/csi/provisioner/provisioner-metrics.ts'
import type { TenantClient } from '../../src/tenant/client/tenant-client.ts'
import { until } from '../support/until.ts'
import { startForwardProxy } from '../tenant/support/forward-proxy.ts'
import {
  createSecret,
  NAMESPACE,
  type ProvisionerStage,
  provisionerStage,
  TENANT,
} from './support/provisioner-stage.ts'

const MINUTE = 60_000
const CLOUD_NATIVE = { oneAgent: { cloudNativeFullStack: {} } }
const PULLED_BY_NODE = { 'feature.dynatrace.com/node-image-pull': 'true' }

let stage: ProvisionerStage
let version: string
beforeAll(async () => {
  stage = await provisionerStage()
  version = stage.simulator.tenant(TENANT).versions.available().at(-1) ?? ''
})
afterAll(() => stage[Symbol.asyncDispose]())
beforeEach(() => stage.restart())

const inData = (...path: readonly string[]) => join(stage.paths.root, ...path)
const namesIn = (...path: readonly string[]) => readdir(inData(...path)).catch(() => undefined)
const operations = () => stage.simulator.calls().map(({ operation }) => operation)
const latest = (dynakube: string) => readlink(stage.paths.latestCodeModule(dynakube)).catch(() => undefined)
const jobs = async () => (await stage.client.list(Jobs, { namespace: NAMESPACE })).items

function image() {
  const { registry } = stage.simulator
  const repository = 'dynatrace/dynatrace-codemodules'
  return registry.reference(repository, registry.tags(repository)?.at(-1) ?? '')
}
const withImage = () => ({ oneAgent: { cloudNativeFullStack: { codeModulesImage: image() } } })
const folderOf = (imageId: string) => Buffer.from(imageId).toString('base64')

describe('a DynaKube that needs nothing on this node', () => {
  it('leaves the data directory alone', async () => {
    await stage.dynakube('classic', { spec: { oneAgent: { classicFullStack: {} } } })
    expect(await stage.reconcile('classic')).toEqual({ requeueAfterMs: 30 * MINUTE })
    expect(await namesIn()).toBeUndefined()
  })

  it('has its directories but no agent when only hosts are monitored', async () => {
    await stage.dynakube('hosts', { spec: { oneAgent: { hostMonitoring: {} } }, codeModules: { version } })
    expect(await stage.reconcile('hosts')).toEqual({ requeueAfterMs: 30 * MINUTE })
    expect(await namesIn('_dynakubes')).toEqual(['hosts'])
    expect(await namesIn('codemodules')).toEqual([])
    expect((await stat(inData('codemodules'))).mode & 0o777).toBe(0o755)
  })
})

describe('a DynaKube whose agent is not decided yet', () => {
  it.each([
    ['nothing is known', CLOUD_NATIVE, undefined],
    ['the version stands for an image', CLOUD_NATIVE, { version: 'custom-image' }],
    [
      'an image is wanted and only a version known',
      { oneAgent: { cloudNativeFullStack: { codeModulesImage: 'registry.example.com/modules:1' } } },
      { version: '1.2.3.4-5' },
    ],
  ])('waits for the operator when %s', async (_, spec, codeModules) => {
    await stage.dynakube('undecided', { spec, ...(codeModules && { codeModules }) })
    expect(await stage.reconcile('undecided')).toEqual({ requeueAfterMs: MINUTE })
    expect(await namesIn('_dynakubes')).toContain('undecided')
  })

  it('rejects a version that would lead out of the directory', async () => {
    for (const bad of ['../../etc', '1.2:3', 'a,b', '.']) {
      await stage.dynakube('undecided', { spec: CLOUD_NATIVE, codeModules: { version: bad } })
      await expect(stage.reconcile('undecided')).rejects.toMatchObject({ code: 'CSI_PROVISION' })
    }
  })
})

describe('an agent from the tenant', () => {
  it('is installed as a whole, shared by all DynaKubes and neutral to tenants', async () => {
    stage.simulator.clearCalls()
    await stage.dynakube('one', { spec: CLOUD_NATIVE, codeModules: { version } })
    await stage.dynakube('two', { spec: { oneAgent: { applicationMonitoring: {} } }, codeModules: { version } })
    expect(await stage.reconcile('one')).toEqual({ requeueAfterMs: 5 * MINUTE })
    expect(await stage.reconcile('two')).toEqual({ requeueAfterMs: 5 * MINUTE })
    expect(operations()).toEqual(['agent-download'])
    const [call] = stage.simulator.calls()
    expect(call?.path).toContain(`/v1/deployment/installer/agent/unix/paas/version/${version}?flavor=`)
    expect(call?.path).toContain('&bitness=64&skipMetadata=true&include=all')
    const module = stage.paths.codeModule(version)
    expect([await latest('one'), await latest('two')]).toEqual([module, module])
    expect(await namesIn('codemodules')).toEqual([version])
    expect(await namesIn()).toEqual(['_dynakubes', 'codemodules'])
    expect(await readlink(join(module, 'agent/bin/current'))).toBe(version)
    const configuration = join(module, 'agent/conf/ruxitagentproc.conf')
    expect((await stat(configuration)).mode & 0o777).toBe(0o666)
    expect((await stat(module)).mode & 0o777).toBe(0o755)
    expect(await readFile(configuration, 'utf8')).not.toMatch(/tenant/i)
  })

  it('costs nothing once it is installed', async () => {
    stage.simulator.clearCalls()
    expect(await stage.reconcile('one')).toEqual({ requeueAfterMs: 5 * MINUTE })
    expect(operations()).toEqual([])
  })

  it('is the one that the DynaKube names now, whatever the cache still shows', async () => {
    const [older = ''] = stage.simulator.tenant(TENANT).versions.available()
    const seen = await stage.dynakube('late', { spec: CLOUD_NATIVE, codeModules: { version: '9.9.9.9-9' } })
    await stage.dynakube('late', { spec: CLOUD_NATIVE, codeModules: { version: older } })
    await stage.reconcile('late', seen)
    expect(await latest('late')).toBe(stage.paths.codeModule(older))
    await stage.client.delete(DynaKubes, { namespace: NAMESPACE, name: 'late' })
    expect(await stage.reconcile('late', seen)).toBeUndefined()
    expect(await latest('late')).toBeUndefined()
  })

  it('is replaced for new pods when the version changes', async () => {
    const [older = ''] = stage.simulator.tenant(TENANT).versions.available()
    await stage.dynakube('one', { spec: CLOUD_NATIVE, codeModules: { version: older } })
    await stage.reconcile('one')
    expect(await latest('one')).toBe(stage.paths.codeModule(older))
    expect(await latest('two')).toBe(stage.paths.codeModule(version))
  })

  it('is reported with the available versions when the tenant does not have it, and leaves nothing', async () => {
    stage.simulator.clearCalls()
    await stage.dynakube('unknown', { spec: CLOUD_NATIVE, codeModules: { version: '9.9.9.20990101-000000' } })
    await writeFile(join(stage.paths.codeModules, 'download-that-could-not-be-deleted'), '')
    await expect(stage.reconcile('unknown')).rejects.toMatchObject({ status: 404 })
    expect(operations()).toEqual(['agent-download', 'agent-versions'])
    expect((await namesIn('codemodules'))?.filter((name) => /download|9\.9/.test(name))).toEqual([])
    expect(await latest('unknown')).toBeUndefined()
  })

  it('is not asked for without tokens', async () => {
    stage.simulator.clearCalls()
    const spec = { ...CLOUD_NATIVE, tokens: 'missing' }
    await stage.dynakube('poor', { spec, codeModules: { version: '9.9.9.9-9' } })
    await expect(stage.reconcile('poor')).rejects.toThrow('the Secret dynatrace/missing does not exist')
    expect(operations()).toEqual([])
  })

  it('is fetched through the proxy that the DynaKube names', async () => {
    await using proxy = await startForwardProxy({ names: {} })
    const apiUrl = stage.simulator.url(TENANT).replace('127.0.0.1', 'tenant.example.com')
    const spec = { ...CLOUD_NATIVE, apiUrl, proxy: { value: `http://${proxy.address}` } }
    await stage.dynakube('poor', { spec, codeModules: { version: '9.9.9.9-9' } })
    await expect(stage.reconcile('poor')).rejects.toThrow('tenant.example.com')
    expect(proxy.seen[0]).toMatch(/^CONNECT tenant\.example\.com:/)
  })
})

describe('an agent from an image', () => {
  it('is pulled without a word to the tenant', async () => {
    stage.simulator.clearCalls()
    await stage.dynakube('imaged', { spec: withImage(), codeModules: { imageID: image() } })
    expect(await stage.reconcile('imaged')).toEqual({ requeueAfterMs: 5 * MINUTE })
    expect(operations().filter((name) => !name.startsWith('registry'))).toEqual([])
    const module = stage.paths.codeModule(folderOf(image()))
    expect(await latest('imaged')).toBe(module)
    expect((await lstat(join(module, 'agent/bin/current'))).isSymbolicLink()).toBe(true)
    expect(await namesIn()).toEqual(['_dynakubes', 'codemodules'])
  })

  it('is on disk once for all DynaKubes with this image', async () => {
    stage.simulator.clearCalls()
    const agents = await namesIn('codemodules')
    await stage.dynakube('twin', { spec: withImage(), codeModules: { imageID: image() } })
    expect(await stage.reconcile('twin')).toEqual({ requeueAfterMs: 5 * MINUTE })
    expect(await namesIn('codemodules')).toEqual(agents)
    expect(await latest('twin')).toBe(await latest('imaged'))
    expect(operations()).toEqual([])
  })

  it('is pulled with the pull secret of the user', async () => {
    const { registry, authority } = stage.simulator
    const files = () => [
      ...['opt/', 'opt/dynatrace/', 'opt/dynatrace/oneagent/', 'opt/dynatrace/oneagent/agent/'].map(directory),
      ...['opt/dynatrace/oneagent/agent/bin/', 'opt/dynatrace/oneagent/agent/bin/1.2.3.4-5/'].map(directory),
    ]
    registry.addImage('linux/private', '1', { labels: {}, entrypoint: [], files })
    const reference = registry.reference('linux/private', '1')
    const spec = {
      oneAgent: { cloudNativeFullStack: { codeModulesImage: reference } },
      customPullSecret: 'pull',
    }
    await stage.dynakube('private', { spec, codeModules: { imageID: reference } })
    await expect(stage.reconcile('private')).rejects.toMatchObject({ code: 'REGISTRY_REFUSED' })
    const password = stage.simulator.tenant(TENANT).tokens.get('apiToken')?.value
    const auths = { [authority]: { username: TENANT, password } }
    await createSecret(stage.client, 'pull', { '.dockerconfigjson': JSON.stringify({ auths }) })
    expect(await stage.reconcile('private')).toEqual({ requeueAfterMs: 5 * MINUTE })
    expect(await readlink(join(stage.paths.codeModule(folderOf(reference)), 'agent/bin/current'))).toBe('1.2.3.4-5')
  })

  it('is not pulled with a pull secret that is not one', async () => {
    await createSecret(stage.client, 'no-pull', { other: 'key' })
    const spec = { ...withImage(), customPullSecret: 'no-pull' }
    await stage.dynakube('private', { spec, codeModules: { imageID: `${image()}-other` } })
    await expect(stage.reconcile('private')).rejects.toThrow('Secret dynatrace/no-pull')
  })

  it('is rejected if the image has no agent, and leaves nothing', async () => {
    const { registry } = stage.simulator
    const repository = 'dynatrace/dynatrace-codemodules'
    registry.addImage(repository, 'empty', { labels: {}, entrypoint: [], files: () => [directory('opt/')] })
    const imageID = registry.reference(repository, 'empty')
    await stage.dynakube('hollow', { spec: withImage(), codeModules: { imageID } })
    await expect(stage.reconcile('hollow')).rejects.toThrow('no layer has agent/bin')
    expect(await namesIn()).toEqual(['_dynakubes', 'codemodules'])
    expect(await namesIn('codemodules')).not.toContain(folderOf(imageID))
  })
})

describe('an agent by a Job', () => {
  const job = async () => (await jobs())[0]

  it('needs one Job, and no tenant', async () => {
    stage.simulator.clearCalls()
    await stage.dynakube('node', { spec: withImage(), codeModules: { imageID: image() }, annotations: PULLED_BY_NODE })
    // Another method may have installed it before.
    await stage.dynakube('node', {
      spec: { oneAgent: { cloudNativeFullStack: { codeModulesImage: 'registry.example.com/modules:1' } } },
      codeModules: { imageID: 'registry.example.com/modules:1' },
      annotations: PULLED_BY_NODE,
    })
    expect(await stage.reconcile('node')).toEqual({ requeueAfterMs: 30_000 })
    expect(await stage.reconcile('node')).toEqual({ requeueAfterMs: 30_000 })
    expect((await jobs()).map(({ spec }) => spec?.template.spec?.containers[0]?.image)).toEqual([
      'registry.example.com/modules:1',
    ])
    expect(operations()).toEqual([])
  })

  it.each([
    ['a pod has failed', () => ({ failed: 1 })],
    [
      'its deadline has passed before a pod started',
      () => ({
        startTime: '2026-01-01T00:00:00Z',
        conditions: ['FailureTarget', 'Failed'].map((type) => ({
          type,
          status: 'True',
          lastTransitionTime: new Date(stage.now()).toISOString(),
        })),
      }),
    ],
  ])('is an error when %s, and a new Job once Kubernetes has deleted it', async (_, statusNow) => {
    const status = statusNow()
    const { metadata } = (await job()) ?? {}
    const key = { namespace: NAMESPACE, name: metadata?.name ?? '' }
    await stage.client.patch(Jobs, key, { type: 'merge', patch: { status } }, { subresource: 'status' })
    await expect(stage.reconcile('node')).rejects.toThrow(`the Job ${NAMESPACE}/${key.name} failed`)
    await stage.client.delete(Jobs, key)
    expect(await stage.reconcile('node')).toEqual({ requeueAfterMs: 30_000 })
    expect((await job())?.metadata.name).toBe(key.name)
  })

  it('is ready when the Job has put it in place, and nothing is left of the Job', async () => {
    const name = (await job())?.metadata.name ?? ''
    const module = stage.paths.codeModule(folderOf('registry.example.com/modules:1'))
    await mkdir(join(module, 'agent/bin/1.2.3.4-5'), { recursive: true })
    await mkdir(stage.paths.jobWork(name), { recursive: true })
    expect(await stage.reconcile('node')).toEqual({ requeueAfterMs: 5 * MINUTE })
    expect(await readlink(join(module, 'agent/bin/current'))).toBe('1.2.3.4-5')
    expect([await jobs(), await namesIn('work')]).toEqual([[], []])
  })

  it('costs no request that changes something once it is installed', async () => {
    stage.failing.add('DELETE ')
    expect(await stage.reconcile('node')).toEqual({ requeueAfterMs: 5 * MINUTE })
    stage.failing.clear()
  })

  it('is pending as long as a Job of another owner has the name, which stays as it is', async () => {
    const imageID = 'registry.example.com/modules:2'
    const metadata = { namespace: NAMESPACE, name: jobName(imageID, 'worker-1') }
    const pod = {
      restartPolicy: 'Never' as const,
      containers: [{ name: 'work', image: 'registry.example.com/other:1' }],
    }
    const spec = { oneAgent: { cloudNativeFullStack: { codeModulesImage: imageID } } }
    await stage.client.create(Jobs, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata,
      spec: { template: { spec: pod } },
    })
    await stage.dynakube('taken', { spec, codeModules: { imageID }, annotations: PULLED_BY_NODE })
    await expect(stage.reconcile('taken')).rejects.toThrow(`${metadata.name} does not belong to a DynaKube`)
    await mkdir(join(stage.paths.codeModule(folderOf(imageID)), 'agent/bin/1.2.3.4-5'), { recursive: true })
    expect(await stage.reconcile('taken')).toEqual({ requeueAfterMs: 5 * MINUTE })
    expect((await jobs()).map(({ metadata: { name } }) => name)).toContain(metadata.name)
    await stage.client.delete(Jobs, metadata)
  })

  it('is discarded if it is not complete', async () => {
    const imageID = 'registry.example.com/broken:1'
    const spec = { oneAgent: { cloudNativeFullStack: { codeModulesImage: imageID } } }
    await stage.dynakube('broken', { spec, codeModules: { imageID }, annotations: PULLED_BY_NODE })
    await mkdir(stage.paths.codeModule(folderOf(imageID)), { recursive: true })
    await expect(stage.reconcile('broken')).rejects.toThrow('no complete agent')
    expect(await namesIn('codemodules')).not.toContain(folderOf(imageID))
    expect(await stage.reconcile('broken')).toEqual({ requeueAfterMs: 30_000 })
  })

  it('comes from the public image of its version if the user names none', async () => {
    const codeModules = { version: '1.2.3.20250101-101010' }
    await stage.dynakube('public', { spec: CLOUD_NATIVE, codeModules, annotations: PULLED_BY_NODE })
    await stage.reconcile('public')
    const found = (await jobs()).flatMap(({ spec }) => spec?.template.spec?.containers ?? [])
    expect(found.find(({ image }) => image?.includes('/dynatrace-codemodules:1.2.3.'))?.args).toContain(
      '--target=/data/codemodules/1.2.3.20250101-101010',
    )
  })
})

describe('an archive that means harm', () => {
  it('is refused as a whole if it is a ZIP of the tenant', async () => {
    const { connectTenant } = networkConnections()
    stage.restart({
      connectTenant: (options) => {
        const tenant = connectTenant(options)
        const download = async (_: unknown, __: unknown, file: string) => {
          await makeZip(file, [{ name: 'agent/bin/1.2.3.4-5/' }, { name: '../x', content: 'x' }])
          return { outcome: 'downloaded', sizeBytes: 1, sha256: '' }
        }
        // Of the installers only the download is used.
        const installers = { download } as unknown as typeof tenant.installers
        return { ...tenant, installers, [Symbol.asyncDispose]: () => tenant.close() }
      },
    })
    await stage.dynakube('harmed', { spec: CLOUD_NATIVE, codeModules: { version: '6.6.6.6-6' } })
    await expect(stage.reconcile('harmed')).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE' })
    expect(await namesIn()).toEqual(['_dynakubes', 'codemodules', 'work'])
    expect((await namesIn('codemodules'))?.filter((name) => /6\.6|download|^x$/.test(name))).toEqual([])
  })

  it('is refused as a whole if it is a layer of an image', async () => {
    const { registry } = stage.simulator
    const repository = 'dynatrace/dynatrace-codemodules'
    const files = () => [{ path: '../x', mode: 0o644, content: Buffer.from('x') }]
    registry.addImage(repository, 'climbing', { labels: {}, entrypoint: [], files })
    const imageID = registry.reference(repository, 'climbing')
    await stage.dynakube('harmed', { spec: withImage(), codeModules: { imageID } })
    await expect(stage.reconcile('harmed')).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE' })
    expect(await namesIn()).not.toContain('x')
    expect(await namesIn('codemodules')).not.toContain(folderOf(imageID))
  })
})

describe('a data directory that cannot be used', () => {
  it.skipIf(process.getuid?.() === 0)(
    'is an error that names it (skipped as root, who may write everywhere)',
    async () => {
      await chmod(stage.paths.codeModules, 0o500)
      await stage.dynakube('stuck', { spec: CLOUD_NATIVE, codeModules: { version: '9.9.9.9-9' } })
      await expect(stage.reconcile('stuck')).rejects.toThrow(stage.paths.codeModules)
      await chmod(stage.paths.codeModules, 0o755)
    },
  )

  it('is an error when a file is in the way', async () => {
    await writeFile(stage.paths.dynakube('inTheWay'), '')
    await symlink('nowhere', stage.paths.dynakube('dangling'))
    await stage.dynakube('dangling', { spec: CLOUD_NATIVE, codeModules: { version } })
    await expect(stage.reconcile('dangling')).rejects.toThrow(stage.paths.dynakube('dangling'))
  })
})

it('the provisioner counts what it installs', async () => {
  const text = await stage.metrics()
  expect(text).toMatch(/dynatrace_csi_provisioner_installs_total\{method="zip",outcome="installed"\} [1-9]/)
  expect(text).toMatch(/dynatrace_csi_provisioner_installs_total\{method="image",outcome="failed"\} [1-9]/)
  expect(text).toMatch(/dynatrace_csi_provisioner_installs_total\{method="job",outcome="pending"\} [1-9]/)
})

function directory(path: string) {
  return { path, mode: 0o755, content: Buffer.alloc(0) }
}

describe('the provisioner', () => {
  it('makes the directory of a host agent while it downloads the agent of another DynaKube', async () => {
    const downloading = Promise.withResolvers<void>()
    const download = (...[, , , { signal } = {}]: Parameters<TenantClient['installers']['download']>) => {
      downloading.resolve()
      return new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    }
    // What an installation uses of it.
    const tenant = { installers: { download }, [Symbol.asyncDispose]: async () => undefined } as unknown as TenantClient
    const { manager } = createProvisioner({
      ...networkConnections(),
      connectTenant: () => tenant,
      client: stage.client,
      namespace: NAMESPACE,
      nodeName: 'worker-1',
      instance: 'worker-1',
      paths: stage.paths,
      hostDataRoot: '/host/data',
      jobs: parseJobSettings(undefined),
      readMounts: async () => [],
      hasCsiDriver: true,
      cleanupPeriodMs: 30 * MINUTE,
      metrics: provisionerMetrics(await createMetricsRegistry()),
      logger: silentLogger,
    })
    await stage.dynakube('slow', { spec: CLOUD_NATIVE, codeModules: { version: '9.9.9.20990101-000000' } })
    const stop = new AbortController()
    const running = manager.run(stop.signal)
    try {
      await downloading.promise
      await stage.dynakube('hosts', { spec: { oneAgent: { hostMonitoring: {} } } })
      await stage.dynakube('classic', { spec: { oneAgent: { classicFullStack: {} } } })
      await until('its directory', async () => (await namesIn('_dynakubes'))?.includes('hosts') ?? false)
      expect((await stat(inData('_dynakubes/hosts'))).mode & 0o777).toBe(0o755)
      await stage.client.delete(DynaKubes, { namespace: NAMESPACE, name: 'hosts' })
      await until('no directory', async () => !(await namesIn('_dynakubes'))?.includes('hosts'))
      expect(await namesIn('_dynakubes')).not.toContain('classic')
    } finally {
      stop.abort()
      await running
    }
  })
})
