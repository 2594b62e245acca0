/** Both processes on a disk that is full or read-only: they report it, leave nothing, and recover. */
import { mkdir, readdir, readlink, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../support/until.ts'
import { type CsiNode, csiNode, missingRights } from './support/csi-node.ts'
import { type ProvisionerWorld, provisionerWorld } from './support/provisioner-process.ts'
import { TENANT } from './support/provisioner-stage.ts'

const OK = { response: {} }
const volume = { pod: 'web' }
/** A write may also end early without an error. */
const FULL = /ENOSPC|is it full/

/** Mounts a small disk as the data directory. */
async function mountData(node: CsiNode, options: string): Promise<void> {
  await mkdir(node.data, { recursive: true })
  await node.execute('mount', '-t', 'tmpfs', '-o', options, 'tmpfs', node.data)
}
const remount = (node: CsiNode, options: string) => node.execute('mount', '-o', `remount,${options}`, node.data)
const namesIn = async (node: CsiNode, path: string) =>
  (await readdir(node.seen(join(node.data, path))).catch(() => [])).toSorted()
/** Mounts other than the disk itself. */
const volumesOf = async (node: CsiNode) => (await node.mounts()).filter(({ mountPoint }) => mountPoint !== node.data)

async function installModule(node: CsiNode): Promise<void> {
  const module = join(node.data, 'codemodules/1')
  await mkdir(node.seen(join(module, 'agent')), { recursive: true })
  await mkdir(node.seen(join(node.data, '_dynakubes/dk')), { recursive: true })
  await symlink(module, node.seen(join(node.data, '_dynakubes/dk/latest-codemodule')))
}

describe.skipIf(missingRights())('a driver', () => {
  it('fails and leaves no mount while the disk is full, and succeeds when it is not', async () => {
    await using node = await csiNode()
    await mountData(node, 'size=64k')
    await installModule(node)
    await writeFile(node.seen(join(node.data, 'filling')), Buffer.alloc(64 * 1024)).catch(() => undefined)
    const driver = await node.start()
    expect(await driver.publish(volume)).toMatchObject({ code: 13, details: expect.stringContaining('ENOSPC') })
    expect(await volumesOf(node)).toEqual([])
    await remount(node, 'size=1m')
    expect(await driver.publish(volume)).toEqual(OK)
    expect(await volumesOf(node)).toHaveLength(2)
    expect(await driver.unpublish(volume)).toEqual(OK)
    expect([await volumesOf(node), await namesIn(node, 'appmounts')]).toEqual([[], []])
  })

  it('lets pods start without an agent while the disk is read-only', async () => {
    await using node = await csiNode()
    await mountData(node, 'size=1m')
    await installModule(node)
    await remount(node, 'ro')
    const driver = await node.start()
    expect(await driver.publish(volume)).toEqual(OK)
    expect(await volumesOf(node)).toEqual([])
    expect(await driver.unpublish(volume)).toEqual(OK)
    await remount(node, 'rw')
    expect(await driver.publish(volume)).toEqual(OK)
    expect(await volumesOf(node)).toHaveLength(2)
  })
})

describe.skipIf(missingRights())('a provisioner', () => {
  let world: ProvisionerWorld
  let version: string
  beforeAll(async () => {
    world = await provisionerWorld({ agentSizeBytes: 256 * 1024 })
    version = world.simulator.tenant(TENANT).versions.agent
    await world.dynakube('dk', version)
  })
  afterAll(() => world[Symbol.asyncDispose]())

  it.each([
    // The download does not fit; it fits, but not what is in it; nothing can be written.
    ['too small for the download', 'size=128k', 'size=16m', FULL],
    ['too small for the agent', 'size=448k', 'size=16m', FULL],
    // Node reports ENOENT for directories that it cannot make on the way to another.
    ['read-only', 'size=16m,ro', 'rw', /EROFS|ENOENT: [^"]*_dynakubes/],
  ])('on a disk that is %s leaves nothing, and installs the agent when it can', async (_, before, after, error) => {
    await using node = await csiNode()
    await mountData(node, before)
    const provisioner = world.start({ dataRoot: node.data, prefix: node.prefix })
    await until('the failure', () => error.test(provisioner.log()))
    await until('a state between two attempts', async () => (await namesIn(node, 'codemodules')).length === 0)
    expect((await namesIn(node, '')).filter((name) => !['_dynakubes', 'codemodules'].includes(name))).toEqual([])
    await remount(node, after)
    const link = node.seen(join(node.data, '_dynakubes/dk/latest-codemodule'))
    await until('the agent', () =>
      readlink(link).then(
        () => true,
        () => false,
      ),
    )
    expect(await namesIn(node, 'codemodules')).toEqual([version])
    expect(await provisioner.stop()).toBe(0)
  })
})
