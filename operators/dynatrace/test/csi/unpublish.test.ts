/** Volumes that cannot be unmounted or deleted: the kubelet has to call again, and a pod does not wait for ever. */
import { mkdir, mkdtemp, readdir, readlink, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '@reeve/runtime'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DataPaths } from '../../src/csi/data-paths.ts'
import { MountError, type Mounts } from '../../src/csi/mounts/mounts.ts'
import { removeLegacy } from '../../src/csi/provisioner/cleanup/remove-legacy.ts'
import { nodeService } from '../../src/csi/server/node-service.ts'
import { bytesField, message, textField } from '../../src/csi/wire/protobuf.ts'
import { spawnBound } from '../support/spawn-bound.ts'
import { until } from '../support/until.ts'
import { type CsiNode, csiNode, type Driver, missingRights, type PodVolume } from './support/csi-node.ts'

const OK = { response: {} }
const MINUTE = 60_000
const missing = missingRights()

/** Holds a file open, until it is disposed of. */
async function holdOpen(node: CsiNode, path: string): Promise<Disposable> {
  const script = 'exec 3>"$0"; exec sleep infinity'
  const holder = spawnBound([...node.prefix, 'sh', '-c', script, path], { stdio: 'ignore' })
  await until('an open file', () =>
    readlink(`/proc/${holder.pid}/fd/3`).then(
      (file) => file === path,
      () => false,
    ),
  )
  return { [Symbol.dispose]: () => holder.kill('SIGKILL') }
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

describe.skipIf(missing)(`unpublishing a volume that is in use${missing ? ` (skipped: ${missing})` : ''}`, () => {
  const host = { mode: 'host', dynakube: 'dk' }
  let node: CsiNode
  let driver: Driver
  beforeAll(async () => {
    node = await csiNode()
    driver = await node.start()
  })
  afterAll(() => node[Symbol.asyncDispose]())
  // Every test has the data directory for itself.
  beforeEach(async () => {
    expect(await node.mounts()).toEqual([])
    await rm(node.data, { recursive: true, force: true })
    await node.installModule('1.2.3.4-5', 'dk')
  })

  it.each<readonly [string, PodVolume, string]>([
    ['an application', { pod: 'web' }, 'agent'],
    ['a host agent', { pod: 'agent', namespace: 'dynatrace', attributes: host }, ''],
  ])('fails for %s, so that the kubelet calls again, and succeeds when it no longer is', async (_, volume, folder) => {
    expect(await driver.publish(volume)).toEqual(OK)
    const before = await node.mounts()
    {
      using _held = await holdOpen(node, join(node.targetOf(volume), folder, 'log'))
      for (let attempt = 0; attempt < 3; attempt++) {
        expect(await driver.unpublish(volume)).toMatchObject({ code: 13, details: expect.stringContaining('EBUSY') })
      }
      expect(await node.mounts()).toEqual(before)
    }
    await until('the end of the holder', async () => 'response' in (await driver.unpublish(volume)))
    expect([await node.mounts(), await readdir(join(node.data, 'appmounts'))]).toEqual([[], []])
    expect(await exists(node.targetOf(volume))).toBe(false)
  })

  it('detaches it after the mount time-out, and the provisioner deletes the rest', async () => {
    const volume: PodVolume = { pod: 'web', attributes: { mode: 'app', dynakube: 'dk', retryTimeout: '100ms' } }
    expect(await driver.publish(volume)).toEqual(OK)
    using _held = await holdOpen(node, join(node.targetOf(volume), 'agent/log'))
    expect(await driver.unpublish(volume)).toMatchObject({ code: 13 })
    await until('the mount time-out', async () => 'response' in (await driver.unpublish(volume)))
    expect([await node.mounts(), await readdir(join(node.data, 'appmounts'))]).toEqual([[], []])
    expect(await exists(node.targetOf(volume))).toBe(false)
    expect(await readdir(join(node.data, '_dynakubes/dk/appmounts'))).toEqual([])
    // A pod with the same volume does not find what is left of the previous one.
    expect(await driver.publish(volume)).toEqual(OK)
    expect(await readdir(node.seen(join(node.targetOf(volume), 'agent')))).toEqual(['installer.version'])
    await removeLegacy({ paths: new DataPaths(node.data), mounts: await node.mounts(), logger: silentLogger })
    expect((await readdir(node.data)).toSorted()).toEqual(['_dynakubes', 'appmounts', 'codemodules'])
    expect(await driver.unpublish(volume)).toEqual(OK)
  })

  it('detaches what is mounted below the target, too', async () => {
    const volume: PodVolume = { pod: 'agent', namespace: 'dynatrace', attributes: { ...host, retryTimeout: '0' } }
    expect(await driver.publish(volume)).toEqual(OK)
    const below = join(node.targetOf(volume), 'below')
    await node.execute('mkdir', below)
    await node.execute('mount', '-t', 'tmpfs', 'tmpfs', below)
    await until('the mount time-out', async () => 'response' in (await driver.unpublish(volume)))
    expect(await node.mounts()).toEqual([])
    expect(await readdir(join(node.data, '_dynakubes/dk/osagent'))).toEqual(['below'])
  })

  it('knows the time-out of a volume after a restart of the driver', async () => {
    const volume: PodVolume = { pod: 'web', attributes: { mode: 'app', dynakube: 'dk', retryTimeout: '0' } }
    expect(await driver.publish(volume)).toEqual(OK)
    using _held = await holdOpen(node, join(node.targetOf(volume), 'agent/log'))
    await driver.stop()
    driver = await node.start()
    await until('the mount time-out', async () => 'response' in (await driver.unpublish(volume)))
    expect(await node.mounts()).toEqual([])
  })

  it('deletes the target directory, unless it has content of others', async () => {
    const volume: PodVolume = { pod: 'web' }
    const target = node.targetOf(volume)
    await mkdir(target, { recursive: true })
    await writeFile(join(target, 'from-before'), '')
    expect(await driver.publish(volume)).toEqual(OK)
    expect(await driver.unpublish(volume)).toMatchObject({ code: 13, details: expect.stringContaining(target) })
    expect(await readdir(target)).toEqual(['from-before'])
    await rm(join(target, 'from-before'))
    expect(await driver.unpublish(volume)).toEqual(OK)
    expect(await exists(target)).toBe(false)
  })

  it('deletes the target directory of a pod that started without an agent', async () => {
    const volume: PodVolume = { pod: 'late', attributes: { mode: 'app', dynakube: 'none', retryTimeout: '1m' } }
    expect(await driver.publish(volume)).toMatchObject({ code: 14 })
    const old = new Date(Date.now() - 2 * MINUTE)
    await utimes(join(node.data, 'appmounts', node.idOf(volume)), old, old)
    expect(await driver.publish(volume)).toEqual(OK)
    // By the container runtime.
    await mkdir(node.targetOf(volume), { recursive: true })
    expect(await driver.unpublish(volume)).toEqual(OK)
    expect(await exists(node.targetOf(volume))).toBe(false)
  })
})

describe('unpublishing', () => {
  it.each([
    [10, undefined],
    [3, '3m'],
  ])('fails for %i minutes while the kernel is busy, then detaches lazily', async (minutes, retryTimeout) => {
    const folder = await mkdtemp(join(tmpdir(), 'csi-unpublish-'))
    const unmounted: string[] = []
    const mounts: Mounts = {
      overlay: async () => undefined,
      bind: async () => undefined,
      async unmount(target, how) {
        if (how !== 'lazily') throw new MountError(`cannot unmount ${target}: EBUSY`)
        unmounted.push(target)
        return false
      },
    }
    try {
      const paths = new DataPaths(join(folder, 'data'))
      let nowMs = Date.now()
      const now = () => nowMs
      const options = { nodeId: 'n', namespace: 'dynatrace', maxRequests: 20, paths, mounts, logger: silentLogger, now }
      const service = nodeService(options)
      await mkdir(paths.dynakube('dk'), { recursive: true })
      const target = join(folder, 'target')
      const attributes = {
        mode: 'host',
        dynakube: 'dk',
        'csi.storage.k8s.io/pod.name': 'agent',
        'csi.storage.k8s.io/pod.namespace': 'dynatrace',
        ...(retryTimeout && { retryTimeout }),
      }
      const context = Object.entries(attributes).map(([key, value]) =>
        bytesField(8, message(textField(1, key), textField(2, value))),
      )
      const capability = bytesField(5, message(bytesField(2, new Uint8Array())))
      await service.NodePublishVolume?.(message(textField(1, 'v'), textField(4, target), capability, ...context))
      const unpublish = () => service.NodeUnpublishVolume?.(message(textField(1, 'v'), textField(2, target)))
      for (const passedMs of [0, MINUTE, minutes * MINUTE - MINUTE]) {
        nowMs += passedMs
        await expect(unpublish()).rejects.toMatchObject({ code: 13, message: expect.stringContaining('EBUSY') })
      }
      expect(unmounted).toEqual([])
      nowMs += 1
      await unpublish()
      expect(unmounted).toEqual([target, paths.appVolume('v').mapped])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
