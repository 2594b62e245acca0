/** Both processes on a disk that is full or read-only: they report it, leave nothing, and recover. */
import { mkdir, readdir, readlink, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../support/until.ts'
import { type CsiNode, csiNode, missingRights } from './support/csi-node.ts'
import { declareMethod, JobPrograms, METHODS } from './support/install-methods.ts'
import { type ProvisionerWorld, provisionerWorld } from './support/provisioner-process.ts'

const OK = { response: {} }
const volume = { pod: 'web' }
/** A write may also end early without an error. */
const FULL = /ENOSPC|is it full/

/** Node reports ENOENT for directories that it cannot make on the way to another. */
const READ_ONLY_VOLUME = /EROFS|ENOENT: [^"]*appmounts/

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

describe.skipIf(missingRights())('a driver (skipped without root)', () => {
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

  it('fails from the first attempt on when there is no room for the directory of a volume', async () => {
    await using node = await csiNode()
    // Each file, directory and link takes one; the last but one is of the directory of volumes.
    await mountData(node, 'nr_inodes=9')
    await installModule(node)
    const driver = await node.start()
    await mkdir(node.seen(join(node.data, 'appmounts')))
    await writeFile(node.seen(join(node.data, 'filling')), '')
    expect(await driver.publish(volume)).toMatchObject({ code: 13, details: expect.stringContaining('ENOSPC') })
    expect(await namesIn(node, 'appmounts')).toEqual([])
    await remount(node, 'nr_inodes=100')
    expect(await driver.publish(volume)).toEqual(OK)
    expect(await volumesOf(node)).toHaveLength(2)
  })

  it('lets pods start without an agent while the disk is read-only, after their time-out', async () => {
    await using node = await csiNode()
    await mountData(node, 'size=1m')
    await installModule(node)
    await remount(node, 'ro')
    const driver = await node.start()
    const hasty = { ...volume, attributes: { mode: 'app', dynakube: 'dk', retryTimeout: '1s' } }
    expect(await driver.publish(hasty)).toMatchObject({ code: 13, details: expect.stringMatching(READ_ONLY_VOLUME) })
    await until('the time-out', async () => 'response' in (await driver.publish(hasty)))
    expect(await volumesOf(node)).toEqual([])
    expect(await driver.unpublish(hasty)).toEqual(OK)
    await remount(node, 'rw')
    expect(await driver.publish(volume)).toEqual(OK)
    expect(await volumesOf(node)).toHaveLength(2)
  })
})

/** What is wrong with a disk, its options then and afterwards, and the error. */
type Disk = readonly [why: string, before: string, after: string, error: RegExp]

const READ_ONLY = /EROFS|ENOENT: [^"]*_dynakubes/

describe.skipIf(missingRights()).each(METHODS)('a provisioner that installs by %s (skipped without root)', (name) => {
  let world: ProvisionerWorld
  let programs: JobPrograms
  let folder: string
  beforeAll(async () => {
    world = await provisionerWorld({ agentSizeBytes: 256 * 1024 })
    programs = await JobPrograms.start(world)
    const method = await declareMethod(world, name)
    folder = method.folder
    await world.decide('dk', method.decided)
  })
  afterAll(async () => {
    await programs[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })

  /** Waits for the agent, and for nothing else to be there. */
  async function expectInstalled(node: CsiNode): Promise<void> {
    const link = node.seen(join(node.data, '_dynakubes/dk/latest-codemodule'))
    await until('the agent', () =>
      readlink(link).then(
        () => true,
        () => false,
      ),
    )
    expect(await namesIn(node, 'codemodules')).toEqual([folder])
    expect(await namesIn(node, 'work')).toEqual([])
  }

  const cases: Readonly<Record<typeof name, readonly Disk[]>> = {
    // The download does not fit; it fits, but not what is in it; nothing can be written.
    ZIP: [
      ['too small for the download', 'size=128k', 'size=16m', FULL],
      ['too small for the agent', 'size=448k', 'size=16m', FULL],
      ['read-only', 'size=16m,ro', 'rw', READ_ONLY],
    ],
    image: [
      ['too small for the agent', 'size=128k', 'size=16m', FULL],
      ['read-only', 'size=16m,ro', 'rw', READ_ONLY],
    ],
    // The copying is done by the program in the image.
    Job: [['read-only', 'size=16m,ro', 'rw', READ_ONLY]],
  }

  it.each(cases[name])(
    'leaves nothing on a disk that is %s, and installs the agent when it can',
    async (_, before, after, error) => {
      await using node = await csiNode()
      programs.use(node.data, node)
      await mountData(node, before)
      const provisioner = world.start({ dataRoot: node.data, prefix: node.prefix })
      await until('the failure', () => error.test(provisioner.log()))
      await until('a state between two attempts', async () => (await namesIn(node, 'codemodules')).length === 0)
      expect((await namesIn(node, '')).filter((entry) => !['_dynakubes', 'codemodules'].includes(entry))).toEqual([])
      await remount(node, after)
      await expectInstalled(node)
      expect(await provisioner.stop()).toBe(0)
    },
  )

  if (name !== 'Job') return
  it('shows no agent while its Job finds the disk full, and uses it afterwards', async () => {
    await using node = await csiNode()
    programs.use(node.data, node)
    // Less than the program copies.
    await mountData(node, 'size=48k')
    const provisioner = world.start({ dataRoot: node.data, prefix: node.prefix })
    await until('a program that failed', () => programs.failures > 0)
    expect(await namesIn(node, 'codemodules')).toEqual([])
    await remount(node, 'size=16m')
    await expectInstalled(node)
    expect(await provisioner.stop()).toBe(0)
  })
})
