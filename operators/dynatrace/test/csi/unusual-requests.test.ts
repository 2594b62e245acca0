/** Requests that no kubelet sends, or only after something went wrong: none harms a volume that is in use. */
import { mkdir, readdir, readFile, readlink, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
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

describe.skipIf(missing)(`an unusual request${missing ? ` (skipped: ${missing})` : ''}`, () => {
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
    // Nor if something else is mounted there.
    await mkdir(elsewhere.target_path, { recursive: true })
    await node.execute('mount', '-t', 'tmpfs', 'tmpfs', elsewhere.target_path)
    expect(await driver.publish(volume, elsewhere)).toMatchObject({ code: 9 })
    expect(await unpublish({ volume_id: node.idOf(volume), ...elsewhere })).toEqual(OK)
    expect(await node.mounts()).toHaveLength(before.length + 1)
    await node.execute('umount', elsewhere.target_path)
    expect(await agentAt(node.targetOf(volume))).toBe('1.2.3.4-5')
    expect(await driver.unpublish(volume)).toEqual(OK)
    await expectNothing()
  })

  it('with a link as target is rejected, and unpublishing does not follow the link', async () => {
    const folder = join(node.folder, 'moved')
    await mkdir(folder)
    await node.execute('mount', '-t', 'tmpfs', 'tmpfs', folder)
    await mkdir(join(node.folder, 'pods'), { recursive: true })
    for (const [name, leadsTo] of [
      ['link', folder],
      ['dangling', join(node.folder, 'nowhere')],
    ] as const) {
      const target = join(node.folder, 'pods', name)
      await symlink(leadsTo, target)
      for (const target_path of [target, `${target}/`]) {
        const request = { ...publishRequest(node, { pod: 'linked' }), target_path }
        expect(await publish(request)).toMatchObject({ code: 3, details: expect.stringContaining(target) })
        expect(await unpublish(request)).toEqual(OK)
      }
      expect(await readlink(target)).toBe(leadsTo)
    }
    expect((await node.mounts()).map(({ mountPoint }) => mountPoint)).toEqual([folder])
    await node.execute('umount', folder)
    await expectNothing()
  })

  it('to unpublish does not follow a link that replaced the target', async () => {
    const volume: PodVolume = { pod: 'replaced' }
    const victim: PodVolume = { pod: 'victim' }
    for (const each of [volume, victim]) expect(await driver.publish(each)).toEqual(OK)
    const target = node.targetOf(volume)
    await node.execute('umount', target)
    await rm(target, { recursive: true })
    await symlink(node.targetOf(victim), target)
    expect(await driver.unpublish(volume)).toEqual(OK)
    expect(await agentAt(node.targetOf(victim))).toBe('1.2.3.4-5')
    expect(await driver.unpublish(victim)).toEqual(OK)
    await expectNothing()
  })

  const HOST = { namespace: 'dynatrace', attributes: { mode: 'host', dynakube: 'dk' } }
  it.each<readonly [string, string, PodVolume, PodVolume]>([
    ['an application', 'another application', { pod: 'first' }, { pod: 'second' }],
    ['an application', 'a host agent', { pod: 'first' }, { ...HOST, pod: 'second' }],
    ['a host agent', 'an application', { ...HOST, pod: 'first' }, { pod: 'second' }],
    ['a host agent', 'another host agent', { ...HOST, pod: 'first' }, { ...HOST, pod: 'second' }],
  ])('at the target of %s is rejected for %s, and cannot unmount the first', async (_, __, first, second) => {
    expect(await driver.publish(first)).toEqual(OK)
    const before = await node.mounts()
    const request = { ...publishRequest(node, second), target_path: node.targetOf(first) }
    expect(await publish(request)).toMatchObject({ code: 9, details: expect.stringContaining(node.idOf(first)) })
    expect(await unpublish(request)).toEqual(OK)
    expect(await node.mounts()).toEqual(before)
    expect(await driver.publish(first)).toEqual(OK)
    expect(await driver.unpublish(first)).toEqual(OK)
    await expectNothing()
  })

  it('for two volumes at one target at the same time publishes one of them', async () => {
    const target_path = join(node.folder, 'pods/contested')
    const requests = ['one', 'two', 'three'].map((pod) => ({ ...publishRequest(node, { pod }), target_path }))
    const outcomes = await Promise.all(requests.map(publish))
    expect(outcomes.filter((outcome) => 'response' in outcome)).toHaveLength(1)
    expect(await node.mounts()).toHaveLength(2)
    expect(await Promise.all(requests.map(unpublish))).toEqual([OK, OK, OK])
    await expectNothing()
  })

  it('for a host volume that is published elsewhere is rejected, and unpublishing there changes nothing', async () => {
    const volume: PodVolume = { ...HOST, pod: 'agent' }
    const elsewhere = { target_path: join(node.folder, 'pods/elsewhere') }
    expect(await driver.publish(volume)).toEqual(OK)
    const before = await node.mounts()
    expect(await driver.publish(volume, elsewhere)).toMatchObject({ code: 9 })
    expect(await unpublish({ volume_id: node.idOf(volume), ...elsewhere })).toEqual(OK)
    expect(await node.mounts()).toEqual(before)
    expect(await driver.unpublish(volume)).toEqual(OK)
    await expectNothing()
  })

  it.each([
    ['has a file in it', 'file/mount', OK],
    ['is a file', 'file', OK],
    ['is a circle of links', 'circle/mount', OK],
    ['has a name that is too long', `${'x'.repeat(256)}/mount`, { code: 3 }],
    ['is too long', `${'x/'.repeat(2_100)}mount`, { code: 3 }],
  ])('with a target path that %s is rejected', async (_, path, unpublished) => {
    const folder = join(node.folder, 'wrong-paths')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'file'), 'kept')
    await symlink('circle', join(folder, 'circle')).catch(() => undefined)
    for (const volume of [{ pod: 'wrong' }, { ...HOST, pod: 'wrong' }]) {
      const request = { ...publishRequest(node, volume), target_path: join(folder, path) }
      expect(await publish(request)).toMatchObject({ code: 3, details: expect.stringContaining('target_path') })
      expect(await unpublish(request)).toMatchObject(unpublished)
    }
    expect(await readFile(join(folder, 'file'), 'utf8')).toBe('kept')
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
    ['target_path', { target_path: '/pods/..' }],
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
