/** Requests that no kubelet sends, or only after something went wrong: none harms a volume that is in use. */
import { mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type CsiNode,
  csiNode,
  type Driver,
  missingRights,
  type PodVolume,
  publishRequest,
} from './support/csi-node.ts'

const OK = { response: {} }
const missing = missingRights()

describe.skipIf(missing)(`an unusual request${missing ? ` (${missing})` : ''}`, () => {
  let node: CsiNode
  let driver: Driver
  beforeAll(async () => {
    node = await csiNode()
    driver = await node.start()
    await node.installModule('1.2.3.4-5', 'dk')
  })
  afterAll(() => node[Symbol.asyncDispose]())

  const publish = (request: object) => driver.client.call('csi.v1.Node/NodePublishVolume', request)
  const unpublish = (request: object) => driver.client.call('csi.v1.Node/NodeUnpublishVolume', request)
  const agentAt = (target: string) => readFile(node.seen(join(target, 'agent/installer.version')), 'utf8')
  const volumes = () => readdir(join(node.data, 'appmounts'))
  const expectNothing = async () => expect([await node.mounts(), await volumes()]).toEqual([[], []])

  it('for a volume that is published elsewhere is rejected, and unpublishing there changes nothing', async () => {
    const volume: PodVolume = { pod: 'web' }
    const elsewhere = { target_path: join(node.folder, 'pods/elsewhere') }
    expect(await driver.publish(volume)).toEqual(OK)
    const before = await node.mounts()
    expect(await driver.publish(volume, elsewhere)).toMatchObject({
      code: 9,
      details: expect.stringContaining(node.targetOf(volume)),
    })
    expect(await unpublish({ volume_id: node.idOf(volume), ...elsewhere })).toEqual(OK)
    expect(await node.mounts()).toEqual(before)
    expect(await agentAt(node.targetOf(volume))).toBe('1.2.3.4-5')
    expect(await driver.unpublish(volume)).toEqual(OK)
    await expectNothing()
  })

  it('through a link publishes and unpublishes where the link leads', async () => {
    const folder = join(node.folder, 'moved')
    await mkdir(folder)
    const target = join(node.folder, 'pods/link')
    await mkdir(join(target, '..'), { recursive: true })
    await symlink(folder, target)
    const request = { ...publishRequest(node, { pod: 'linked' }), target_path: target }
    expect([await publish(request), await publish(request)]).toEqual([OK, OK])
    expect((await node.mounts()).map(({ mountPoint }) => mountPoint)).toContain(folder)
    expect(await node.mounts()).toHaveLength(2)
    expect(await unpublish(request)).toEqual(OK)
    await expectNothing()
  })

  it('with a volume id that looks like options of a mount publishes that volume only', async () => {
    const volume_id = 'a,lowerdir=\\etc:b'
    const request = { ...publishRequest(node, { pod: 'comma' }), volume_id }
    expect(await publish(request)).toEqual(OK)
    expect(await node.mounts()).toHaveLength(2)
    expect(await agentAt(node.targetOf({ pod: 'comma' }))).toBe('1.2.3.4-5')
    expect(await volumes()).toEqual([volume_id])
    expect(await unpublish(request)).toEqual(OK)
    await expectNothing()
  })

  it.each([
    ['volume_id', { volume_id: '../../etc' }],
    ['volume_id', { volume_id: '.' }],
    ['volume_id', { volume_id: 'x'.repeat(256) }],
    ['target_path', { target_path: 'pods/relative' }],
    ['target_path', { target_path: '/pods/\0/etc' }],
  ])('with a wrong %s is rejected for both calls: %j', async (field, wrong) => {
    const request = { ...publishRequest(node, { pod: 'wrong' }), ...wrong }
    const rejected = { code: 3, details: expect.stringContaining(field) }
    expect([await publish(request), await unpublish(request)]).toMatchObject([rejected, rejected])
    await expectNothing()
  })

  it('with unknown attributes is like one without; one that is much too large is rejected', async () => {
    const volume: PodVolume = { pod: 'attributes' }
    const { volume_context } = publishRequest(node, volume) as { volume_context: Record<string, string> }
    const more = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`example.com/${index}`, 'x'.repeat(50)]),
    )
    expect(await driver.publish(volume, { volume_context: { ...more, ...volume_context } })).toEqual(OK)
    expect(await driver.unpublish(volume)).toEqual(OK)
    const huge = { ...volume_context, huge: 'x'.repeat(2 ** 20) }
    expect(await driver.publish(volume, { volume_context: huge })).toMatchObject({ code: 8 })
    expect(await driver.client.call('csi.v1.Identity/Probe')).toEqual(OK)
    await expectNothing()
  })

  it('may come in any order and number, concurrently: in the end the last one counts', async () => {
    const volume: PodVolume = { pod: 'busy' }
    for (let round = 0; round < 5; round++) {
      const calls = Array.from({ length: 12 }, (_, index) => (index % 3 === round % 3 ? 'unpublish' : 'publish'))
      const outcomes = await Promise.all(calls.map((call) => driver[call as 'publish' | 'unpublish'](volume)))
      expect(outcomes).toEqual(calls.map(() => OK))
      expect(await driver.publish(volume)).toEqual(OK)
      expect(await node.mounts()).toHaveLength(2)
      expect(await agentAt(node.targetOf(volume))).toBe('1.2.3.4-5')
      expect(await driver.unpublish(volume)).toEqual(OK)
      await expectNothing()
    }
  })

  it('to unpublish removes mounts that were stacked on the target', async () => {
    const volume: PodVolume = { pod: 'stacked' }
    expect(await driver.publish(volume)).toEqual(OK)
    const target = node.targetOf(volume)
    await node.execute('mount', '--bind', join(node.data, 'appmounts', node.idOf(volume), 'mapped'), target)
    expect(await node.mounts()).toHaveLength(3)
    expect(await driver.unpublish(volume)).toEqual(OK)
    await expectNothing()
  })

  it('after a restart of the node mounts the agent of a pod again, however old its volume is', async () => {
    const volume: PodVolume = { pod: 'survivor' }
    const root = join(node.data, 'appmounts', node.idOf(volume))
    const old = new Date(Date.now() - 3_600_000)
    expect(await driver.publish(volume)).toEqual(OK)
    for (const path of [node.targetOf(volume), join(root, 'mapped')]) await node.execute('umount', path)
    await utimes(root, old, old)
    expect(await driver.publish(volume)).toEqual(OK)
    expect(await agentAt(node.targetOf(volume))).toBe('1.2.3.4-5')
    expect(await driver.unpublish(volume)).toEqual(OK)

    // Once: an application must not wait forever for an agent that cannot be mounted any more.
    expect(await driver.publish(volume)).toEqual(OK)
    for (const path of [node.targetOf(volume), join(root, 'mapped')]) await node.execute('umount', path)
    const link = join(node.data, '_dynakubes/dk/latest-codemodule')
    await rm(link)
    for (const outcome of [{ code: 14 }, OK]) {
      await utimes(root, old, old)
      expect(await driver.publish(volume)).toMatchObject(outcome)
    }
    expect(await node.mounts()).toEqual([])
    expect(await driver.unpublish(volume)).toEqual(OK)
    await node.installModule('1.2.3.4-5', 'dk')
    await expectNothing()
  })

  it('leaves what a pod wrote into its volume to nobody, whatever it is', async () => {
    const volume: PodVolume = { pod: 'writer' }
    expect(await driver.publish(volume)).toEqual(OK)
    const target = node.seen(node.targetOf(volume))
    const outside = join(node.folder, 'outside')
    await mkdir(outside, { recursive: true })
    await writeFile(join(outside, 'precious'), '')
    await rm(join(target, 'pod-info'))
    await node.execute('mkfifo', join(node.targetOf(volume), 'pod-info'))
    await symlink(outside, join(target, 'way-out'))
    await mkdir(join(target, 'deep/er'), { recursive: true, mode: 0 })
    expect(await driver.unpublish(volume)).toEqual(OK)
    expect((await stat(join(outside, 'precious'))).isFile()).toBe(true)
    await expectNothing()
  })
})
