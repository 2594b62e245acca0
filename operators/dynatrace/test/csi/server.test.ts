/** The driver as a process, with real mounts, called as the kubelet calls it. */
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '@reeve/runtime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { runCsiServer } from '../../src/csi/server/csi-server.ts'
import { until } from '../support/until.ts'
import { csiClient } from './support/csi-client.ts'
import { type CsiNode, csiNode, type Driver, missingRights, publishRequest } from './support/csi-node.ts'

const OK = { response: {} }
const missing = missingRights()
const inAppMounts = ({ data }: CsiNode) => readdir(join(data, 'appmounts')).catch(() => [])

describe.skipIf(missing)(`the CSI driver${missing ? ` (skipped: ${missing})` : ''}`, () => {
  let node: CsiNode
  let driver: Driver
  beforeAll(async () => {
    node = await csiNode()
    driver = await node.start()
  })
  afterAll(() => node[Symbol.asyncDispose]())

  const overlaysAt = async (path: string) => (await node.mounts()).filter(({ mountPoint }) => mountPoint === path)
  const volumeFolder = (pod: string) => join(node.data, 'appmounts', node.idOf({ pod }))

  it('says who it is, and that it is ready by not denying it', async () => {
    const info = { name: 'csi.oneagent.dynatrace.com', vendor_version: manifest.version }
    expect(await driver.client.call('csi.v1.Identity/GetPluginInfo')).toEqual({ response: info })
    expect(await driver.client.call('csi.v1.Identity/GetPluginCapabilities')).toEqual(OK)
    expect(await driver.client.call('csi.v1.Identity/Probe')).toEqual(OK)
    expect(await driver.client.call('csi.v1.Node/NodeGetInfo')).toEqual({ response: { node_id: 'worker-1' } })
    expect(await driver.client.call('csi.v1.Node/NodeGetCapabilities')).toEqual(OK)
  })

  it.each(['NodeStageVolume', 'NodeUnstageVolume', 'NodeGetVolumeStats', 'NodeExpandVolume'])(
    'does not implement %s',
    async (method) => {
      expect(await driver.client.call(`csi.v1.Node/${method}`)).toEqual({ code: 12, details: '' })
    },
  )

  it('has no controller', async () => {
    expect(await driver.client.call('csi.v1.Controller/ControllerGetCapabilities')).toMatchObject({ code: 12 })
  })

  it('waits for the provisioner before it mounts anything', async () => {
    const volume = { pod: 'early', attributes: { mode: 'app', dynakube: 'later' } }
    expect(await driver.publish(volume)).toMatchObject({ code: 14, details: expect.stringContaining('later') })
    expect((await stat(volumeFolder('early'))).mode & 0o777).toBe(0o777)
    expect(await overlaysAt(node.targetOf(volume))).toEqual([])
  })

  it('mounts the latest agent of a DynaKube, and unpublishes it completely', async () => {
    const module = await node.installModule('1.2.3.4-5', 'dk')
    const volume = { pod: 'web-0' }
    expect(await driver.publish(volume)).toEqual(OK)
    const folder = volumeFolder('web-0')
    expect(await overlaysAt(join(folder, 'mapped'))).toMatchObject([
      {
        type: 'overlay',
        options: { lowerdir: module, upperdir: join(folder, 'var'), workdir: join(folder, 'work') },
      },
    ])
    expect(await overlaysAt(node.targetOf(volume))).toMatchObject([{ type: 'overlay' }])
    const seen = node.seen(node.targetOf(volume))
    expect(await readFile(join(seen, 'agent/installer.version'), 'utf8')).toBe('1.2.3.4-5')
    const link = join(node.data, '_dynakubes/dk/appmounts/shop/web-0')
    expect(await readFile(join(seen, 'pod-info'), 'utf8')).toBe(link)
    expect(await readlink(link)).toBe(folder)

    await writeFile(join(seen, 'agent/log'), 'written by the application')
    expect(await readdir(join(module, 'agent'))).toEqual(['installer.version'])

    expect(await driver.unpublish(volume)).toEqual(OK)
    expect(await node.mounts()).toEqual([])
    expect(await inAppMounts(node)).not.toContain(node.idOf(volume))
    expect(await readdir(join(node.data, '_dynakubes/dk/appmounts'))).toEqual([])
    expect(await driver.unpublish(volume)).toEqual(OK)
  })

  it('does not mount twice when it is called twice, concurrently or later, even for another DynaKube', async () => {
    await node.installModule('1.2.3.4-5', 'dk')
    const volume = { pod: 'twice' }
    expect(await Promise.all([driver.publish(volume), driver.publish(volume)])).toEqual([OK, OK])
    const other = { ...volume, attributes: { mode: 'nonsense', dynakube: 'unknown' } }
    expect(await driver.publish(other)).toEqual(OK)
    expect(await node.mounts()).toHaveLength(2)
    expect(await driver.unpublish(volume)).toEqual(OK)
    expect(await node.mounts()).toEqual([])
  })

  it('lets a pod start without an agent when there was none in time', async () => {
    const volume = { pod: 'late', attributes: { mode: 'app', dynakube: 'none', retryTimeout: '1m' } }
    expect(await driver.publish(volume)).toMatchObject({ code: 14 })
    const old = new Date(Date.now() - 61_000)
    await utimes(volumeFolder('late'), old, old)
    expect(await driver.publish(volume)).toEqual(OK)
    expect(await node.mounts()).toEqual([])
    await expect(stat(node.targetOf(volume))).rejects.toThrow('ENOENT')
    expect(await driver.unpublish(volume)).toEqual(OK)
    expect(await inAppMounts(node)).not.toContain(node.idOf(volume))
  })

  it('waits ten minutes for an agent unless the volume says otherwise', async () => {
    const volume = { pod: 'patient', attributes: { mode: 'app', dynakube: 'none' } }
    expect(await driver.publish(volume)).toMatchObject({ code: 14 })
    for (const [seconds, outcome] of [
      [590, { code: 14 }],
      [601, OK],
    ] as const) {
      const started = new Date(Date.now() - seconds * 1_000)
      await utimes(volumeFolder('patient'), started, started)
      expect([seconds, await driver.publish(volume)]).toMatchObject([seconds, outcome])
    }
    expect(await node.mounts()).toEqual([])
  })

  it('tries once with a timeout of zero', async () => {
    const volume = { pod: 'hasty', attributes: { mode: 'app', dynakube: 'none', retryTimeout: '0' } }
    expect(await driver.publish(volume)).toMatchObject({ code: 14 })
    expect(await driver.publish(volume)).toEqual(OK)
  })

  it('refuses an agent that is not a directory', async () => {
    await mkdir(join(node.data, '_dynakubes/file'), { recursive: true })
    await writeFile(join(node.data, '_dynakubes/file/latest-codemodule'), '')
    const volume = { pod: 'file', attributes: { mode: 'app', dynakube: 'file' } }
    expect(await driver.publish(volume)).toMatchObject({ code: 14 })
    expect(await node.mounts()).toEqual([])
  })

  it('shows the storage of a host agent to pods of its own namespace only', async () => {
    await node.declareDynaKube('guarded')
    const attributes = { mode: 'host', dynakube: 'guarded' }
    const stranger = { pod: 'agent', namespace: 'shop', attributes }
    expect(await driver.publish(stranger)).toMatchObject({ code: 7, details: expect.stringContaining('shop') })
    expect(await node.mounts()).toEqual([])
    expect(await readdir(join(node.data, '_dynakubes/guarded'))).toEqual([])
    await expect(stat(node.targetOf(stranger))).rejects.toThrow('ENOENT')
    const agent = { ...stranger, namespace: 'dynatrace' }
    expect(await driver.publish(agent)).toEqual(OK)
    expect(await driver.unpublish(agent)).toEqual(OK)
  })

  it.each(['app', 'host'])('makes no directory for a DynaKube that nobody declared, mode %s', async (mode) => {
    const volume = { pod: 'made-up', namespace: 'dynatrace', attributes: { mode, dynakube: 'made-up' } }
    const known = await readdir(join(node.data, '_dynakubes'))
    expect(await driver.publish(volume)).toMatchObject({ code: 14, details: expect.stringContaining('made-up') })
    expect(await readdir(join(node.data, '_dynakubes'))).toEqual(known)
    expect(await node.mounts()).toEqual([])
    expect(await driver.unpublish(volume)).toEqual(OK)
    expect(await inAppMounts(node)).not.toContain(node.idOf(volume))
  })

  it('waits for the provisioner before it makes the storage of a host agent', async () => {
    const volume = { pod: 'early', namespace: 'dynatrace', attributes: { mode: 'host', dynakube: 'soon' } }
    expect(await driver.publish(volume)).toMatchObject({ code: 14 })
    await node.declareDynaKube('soon')
    expect(await driver.publish(volume)).toEqual(OK)
    expect(await driver.unpublish(volume)).toEqual(OK)
  })

  it('keeps the storage of a host agent across its pods, without any code module', async () => {
    await node.declareDynaKube('host')
    const attributes = { mode: 'host', dynakube: 'host' }
    const first = { pod: 'agent-a', namespace: 'dynatrace', attributes }
    expect(await driver.publish(first)).toEqual(OK)
    await writeFile(join(node.seen(node.targetOf(first)), 'state'), 'kept')
    expect(await driver.unpublish(first)).toEqual(OK)
    const second = { pod: 'agent-b', namespace: 'dynatrace', attributes }
    expect(await driver.publish(second)).toEqual(OK)
    expect(await readFile(join(node.seen(node.targetOf(second)), 'state'), 'utf8')).toBe('kept')
    expect(await driver.unpublish(second)).toEqual(OK)
    expect(await readFile(join(node.data, '_dynakubes/host/osagent/state'), 'utf8')).toBe('kept')
  })

  it('uses the storage of an earlier layout, unless it is missing', async () => {
    const legacy = join(node.data, 'tenant/osagent')
    const link = join(node.data, '_dynakubes/old/osagent')
    await mkdir(legacy, { recursive: true })
    await mkdir(join(link, '..'), { recursive: true })
    await symlink(legacy, link)
    const volume = { pod: 'legacy', namespace: 'dynatrace', attributes: { mode: 'host', dynakube: 'old' } }
    expect(await driver.publish(volume)).toEqual(OK)
    expect(await readlink(link)).toBe(legacy)
    expect(await driver.unpublish(volume)).toEqual(OK)

    const dangling = join(node.data, '_dynakubes/gone/osagent')
    await mkdir(join(dangling, '..'), { recursive: true })
    await symlink(join(node.data, 'nowhere'), dangling)
    const other = { pod: 'dangling', namespace: 'dynatrace', attributes: { mode: 'host', dynakube: 'gone' } }
    expect(await driver.publish(other)).toEqual(OK)
    expect((await stat(dangling)).isDirectory()).toBe(true)
    await expect(readlink(dangling)).rejects.toThrow('EINVAL')
    expect(await driver.unpublish(other)).toEqual(OK)
  })

  it('names a mode that it does not know', async () => {
    const volume = { pod: 'mode', attributes: { mode: 'sideways', dynakube: 'dk' } }
    expect(await driver.publish(volume)).toMatchObject({ code: 13, details: expect.stringContaining('sideways') })
  })

  const context = publishContext()
  it.each([
    ['volume_id', { volume_id: '' }],
    ['target_path', { target_path: '' }],
    ['volume_capability', { volume_capability: undefined }],
    ['block', { volume_capability: { block: {} } }],
    ['access type', { volume_capability: { access_mode: { mode: 1 } } }],
    ['volume_context', { volume_context: undefined }],
    ['pod.name', { volume_context: { ...context, 'csi.storage.k8s.io/pod.name': '' } }],
    ['pod.namespace', { volume_context: { ...context, 'csi.storage.k8s.io/pod.namespace': '' } }],
    ['mode', { volume_context: { ...context, mode: '' } }],
    ['dynakube', { volume_context: { ...context, dynakube: '' } }],
    ['retryTimeout', { volume_context: { ...context, retryTimeout: 'abc' } }],
    ['dynakube', { volume_context: { ...context, dynakube: '../../etc' } }],
    ['volume_id', { volume_id: '../../etc' }],
    ['pod name', { volume_context: { ...context, 'csi.storage.k8s.io/pod.name': '..' } }],
  ])('rejects a request with a wrong %s', async (field, more) => {
    expect(await driver.publish({ pod: 'wrong' }, more)).toMatchObject({
      code: 3,
      details: expect.stringContaining(field),
    })
  })

  it.each(['volume_id', 'target_path'])('rejects to unpublish without %s', async (field) => {
    const { volume_id, target_path } = publishRequest(node, { pod: 'x' })
    const request = { volume_id, target_path, [field]: '' }
    expect(await driver.client.call('csi.v1.Node/NodeUnpublishVolume', request)).toMatchObject({ code: 3 })
  })

  it('does not follow a note in the volume that points elsewhere', async () => {
    await node.installModule('1.2.3.4-5', 'dk')
    const volume = { pod: 'malicious' }
    const victim = join(node.data, 'victim')
    await writeFile(victim, 'precious')
    expect(await driver.publish(volume)).toEqual(OK)
    await writeFile(join(node.seen(node.targetOf(volume)), 'pod-info'), victim)
    expect(await driver.unpublish(volume)).toEqual(OK)
    expect(await readFile(victim, 'utf8')).toBe('precious')
  })

  it('logs the volume and pod of a call', () => {
    expect(driver.log()).toContain('"pod":"web-0"')
  })
})

describe.skipIf(missing)(`a limit of calls${missing ? ` (skipped: ${missing})` : ''}`, () => {
  it.each([
    [{ GRPC_MAX_REQUESTS_LIMIT: '0' }, { code: 8 }],
    [{ GRPC_MAX_REQUESTS_LIMIT: 'x' }, OK],
  ])('is taken from the setting %j', async (env, expected) => {
    await using node = await csiNode()
    // The agents of this operator are in another namespace than usual.
    const driver = await node.start({ ...env, POD_NAMESPACE: 'monitoring' })
    await node.declareDynaKube('dk')
    const volume = { pod: 'web', namespace: 'monitoring', attributes: { mode: 'host', dynakube: 'dk' } }
    expect(await driver.publish(volume)).toMatchObject(expected)
    expect(await driver.client.call('csi.v1.Identity/Probe')).toEqual(OK)
  })
})

it('the CSI server rejects exactly the call beyond the limit while others are slow, and responds to other methods', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'csi-limit-'))
  const stop = new AbortController()
  const socket = join(folder, 'csi.sock')
  const slow = Promise.withResolvers<void>()
  let binding = 0
  const mounts = {
    overlay: async () => undefined,
    unmount: async () => false,
    bind: async () => {
      binding++
      await slow.promise
    },
  }
  const dataRoot = join(folder, 'data')
  await mkdir(join(dataRoot, '_dynakubes/dk'), { recursive: true })
  const options = { socket, nodeId: 'worker-1', namespace: 'shop', dataRoot, maxRequests: 20, version: '1', mounts }
  const metricsAddress = { host: '127.0.0.1', port: 0 }
  const serving = runCsiServer({ ...options, metricsAddress, logger: silentLogger }, stop.signal)
  try {
    await until('the socket', () =>
      stat(socket).then(
        () => true,
        () => false,
      ),
    )
    using client = csiClient(socket)
    const publish = (pod: string) =>
      client.call('csi.v1.Node/NodePublishVolume', {
        volume_id: pod,
        target_path: join(folder, pod),
        volume_capability: { mount: {} },
        volume_context: { ...publishContext(), mode: 'host', 'csi.storage.k8s.io/pod.name': pod },
      })
    const first = Array.from({ length: 20 }, (_, index) => publish(`pod-${index}`))
    await until('20 slow calls', () => binding === 20)
    expect(await publish('pod-20')).toMatchObject({ code: 8 })
    expect(await client.call('csi.v1.Identity/Probe')).toEqual(OK)
    slow.resolve()
    expect(await Promise.all(first)).toEqual(first.map(() => OK))
    expect(await publish('pod-20')).toEqual(OK)
  } finally {
    slow.resolve()
    stop.abort()
    await serving
    await rm(folder, { recursive: true, force: true })
  }
})

function publishContext(): Readonly<Record<string, string>> {
  return {
    mode: 'app',
    dynakube: 'dk',
    'csi.storage.k8s.io/pod.name': 'web',
    'csi.storage.k8s.io/pod.namespace': 'shop',
  }
}
