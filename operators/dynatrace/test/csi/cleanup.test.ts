/** Deleting what nothing on a node needs any more, next to what must stay. */
import { mkdir, readdir, readlink, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DynaKubes } from '../../src/api/latest.ts'
import { NAMESPACE, type ProvisionerStage, provisionerStage } from './support/provisioner-stage.ts'

const CLOUD_NATIVE = { oneAgent: { cloudNativeFullStack: {} } }
const USED = '1.1.1.1-1'
const OLD = '1.0.0.0-1'

let stage: ProvisionerStage
beforeAll(async () => {
  stage = await provisionerStage()
})
afterAll(() => stage[Symbol.asyncDispose]())
beforeEach(async () => {
  stage.restart()
  await make('codemodules/1.1.1.1-1/agent/bin/1.1.1.1-1')
  await stage.dynakube('dk', { spec: CLOUD_NATIVE, codeModules: { version: USED } })
})
afterEach(async () => {
  stage.mounts.length = 0
  stage.failing.clear()
  await rm(stage.paths.root, { recursive: true, force: true })
  for (const { metadata } of (await stage.client.list(DynaKubes, { namespace: NAMESPACE })).items) {
    await stage.client.delete(DynaKubes, { namespace: NAMESPACE, name: metadata.name })
  }
})

const at = (path: string) => join(stage.paths.root, path)
const make = (path: string) => mkdir(at(path), { recursive: true })
const names = async (path = '') => (await readdir(at(path)).catch(() => [])).toSorted()

async function link(path: string, target: string): Promise<void> {
  await mkdir(dirname(at(path)), { recursive: true })
  await symlink(target, at(path))
}

/** An overlay over an agent, as a volume has it. */
function overlay(mountPoint: string, lower: string): void {
  const options = { lowerdir: at(lower), upperdir: '', workdir: '' }
  stage.mounts.push({ device: '0:99', root: '/', mountPoint: at(mountPoint), type: 'overlay', options })
}

describe('agents', () => {
  it('are deleted when nothing uses them, with everything else that does not belong there', async () => {
    await make(`codemodules/${OLD}/agent`)
    await writeFile(at('codemodules/downloadabc'), 'part')
    await stage.reconcile('dk')
    expect(await names('codemodules')).toEqual([USED])
  })

  it('stay while a pod uses them, also when their DynaKube is gone', async () => {
    await make(`codemodules/${OLD}/agent`)
    overlay('appmounts/csi-1/mapped', `codemodules/${OLD}`)
    await stage.reconcile('dk')
    expect(await names('codemodules')).toEqual([OLD, USED])
    stage.mounts.length = 0
    stage.restart()
    await stage.reconcile('dk')
    expect(await names('codemodules')).toEqual([USED])
  })

  it('stay if a pod begins to use them while they are being deleted', async () => {
    await make(`codemodules/${OLD}/agent`)
    let reads = 0
    stage.restart({
      async readMounts() {
        // Mounted after the first look at the table, as by a server that had just read the link.
        if (reads++ === 2) overlay('appmounts/csi-1/mapped', `codemodules/${OLD}`)
        return stage.mounts
      },
    })
    await stage.reconcile('dk')
    expect(await names('codemodules')).toEqual([OLD, USED])
    expect(await names(`codemodules/${OLD}`)).toEqual(['agent'])
  })

  it('are deleted after a crash in the middle of their deletion, or return if a pod uses them', async () => {
    await make('codemodules/.unused/gone/agent')
    await make('codemodules/.unused/mounted/agent')
    overlay('appmounts/csi-1/mapped', 'codemodules/mounted')
    await stage.reconcile('dk')
    expect(await names('codemodules')).toEqual([USED, 'mounted'])
  })

  it('leave no empty folder after a crash at the end of their deletion', async () => {
    await make('codemodules/.unused')
    await stage.reconcile('dk')
    expect(await names('codemodules')).toEqual([USED])
  })

  it('stay while another DynaKube is about to use them', async () => {
    await make(`codemodules/${OLD}/agent`)
    await stage.dynakube('next', { spec: CLOUD_NATIVE, codeModules: { version: OLD } })
    await stage.reconcile('dk')
    expect(await names('codemodules')).toEqual([OLD, USED])
  })

  it.each([
    ['placed by a Job', 'true'],
    ['pulled', 'false'],
  ])('stay when they are %s and not yet linked', async (_, isPulledByNode) => {
    const imageID = 'registry.example.com/modules:1'
    const folder = Buffer.from(imageID).toString('base64')
    await stage.dynakube('next', {
      spec: { oneAgent: { cloudNativeFullStack: { codeModulesImage: imageID } } },
      codeModules: { imageID },
      annotations: { 'feature.dynatrace.com/node-image-pull': isPulledByNode },
    })
    // Placed right before, and in the middle of a clean-up for another DynaKube.
    for (const placedAtRead of [0, 1, 2]) {
      let reads = 0
      stage.restart({
        async readMounts() {
          if (reads++ === placedAtRead) await make(`codemodules/${folder}/agent/bin/1.2.3.4-5`)
          return stage.mounts
        },
      })
      await make(`codemodules/${OLD}/agent`)
      await stage.reconcile('dk')
      expect([placedAtRead, await names('codemodules')]).toEqual([placedAtRead, [USED, folder]])
      await rm(at(`codemodules/${folder}`), { recursive: true })
    }
    await make(`codemodules/${folder}/agent/bin/1.2.3.4-5`)
    await stage.client.delete(DynaKubes, { namespace: NAMESPACE, name: 'dk' })
    // Not throttled, and its own agent goes.
    await stage.reconcile('dk')
    expect(await names('codemodules')).toEqual([folder])
    await stage.reconcile('next')
    expect(await readlink(stage.paths.latestCodeModule('next'))).toBe(at(`codemodules/${folder}`))
  })

  it('stay as a whole when the API server cannot be asked for DynaKubes', async () => {
    await make(`codemodules/${OLD}/agent`)
    stage.failing.add('/dynakubes?')
    await stage.reconcile('dk')
    expect(await names('codemodules')).toEqual([OLD, USED])
  })

  it('stay as a whole when the table of mounts cannot be read', async () => {
    await make(`codemodules/${OLD}/agent`)
    stage.restart({ readMounts: () => Promise.reject(new Error('no /proc')) })
    expect(await stage.reconcile('dk')).toEqual({ requeueAfterMs: 5 * 60_000 })
    expect(await names('codemodules')).toEqual([OLD, USED])
  })
})

describe('a DynaKube that is deleted', () => {
  it('loses its link, its directory and its agent at once', async () => {
    await stage.reconcile('dk')
    expect(await readlink(stage.paths.latestCodeModule('dk'))).toBe(at(`codemodules/${USED}`))
    await stage.client.delete(DynaKubes, { namespace: NAMESPACE, name: 'dk' })
    expect(await stage.reconcile('dk')).toBeUndefined()
    expect(await names()).toEqual([])
  })

  it('leaves no empty directories if it was the last one, but those of another that has no agent yet', async () => {
    await make('work')
    await stage.reconcile('dk')
    await stage.dynakube('waiting', { spec: CLOUD_NATIVE })
    await stage.reconcile('waiting')
    await stage.client.delete(DynaKubes, { namespace: NAMESPACE, name: 'dk' })
    await stage.reconcile('dk')
    expect(await names()).toEqual(['_dynakubes', 'codemodules', 'work'])
    await stage.client.delete(DynaKubes, { namespace: NAMESPACE, name: 'waiting' })
    await stage.reconcile('waiting')
    expect(await names()).toEqual([])
  })

  it('loses agent and storage soon after the last pods that use them are gone', async () => {
    await stage.reconcile('dk')
    await make('_dynakubes/dk/osagent/files')
    overlay('appmounts/csi-1/mapped', `codemodules/${USED}`)
    overlay('_dynakubes/dk/osagent', 'elsewhere')
    await stage.client.delete(DynaKubes, { namespace: NAMESPACE, name: 'dk' })
    const { requeueAfterMs = Number.POSITIVE_INFINITY } = (await stage.reconcile('dk')) ?? {}
    expect(requeueAfterMs).toBeLessThanOrEqual(60_000)
    expect([await names('_dynakubes'), await names('codemodules')]).toEqual([['dk'], [USED]])
    stage.mounts.length = 0
    stage.pass(requeueAfterMs)
    expect(await stage.reconcile('dk')).toBeUndefined()
    expect([await names('_dynakubes'), await names('codemodules')]).toEqual([[], []])
  })

  it('leaves the agent to another one with the same version', async () => {
    await stage.dynakube('twin', { spec: CLOUD_NATIVE, codeModules: { version: USED } })
    for (const name of ['dk', 'twin']) await stage.reconcile(name)
    await stage.client.delete(DynaKubes, { namespace: NAMESPACE, name: 'dk' })
    await stage.reconcile('dk')
    expect([await names('_dynakubes'), await names('codemodules')]).toEqual([['twin'], [USED]])
  })

  it('loses its link also when it only no longer needs an agent', async () => {
    await stage.reconcile('dk')
    await stage.dynakube('dk', { spec: { oneAgent: { classicFullStack: {} } } })
    stage.restart()
    expect(await stage.reconcile('dk')).toEqual({ requeueAfterMs: 30 * 60_000 })
    expect([await names('_dynakubes'), await names('codemodules')]).toEqual([[], []])
  })
})

describe('the period', () => {
  it.each([
    [22, 21, 0],
    [22, 23, 1],
  ])('of %i minutes, after %i minutes, has passed %i times', async (period, minutes, times) => {
    stage.restart({ cleanupPeriodMs: period * 60_000 })
    await stage.reconcile('dk')
    await make(`codemodules/${OLD}/agent`)
    stage.pass(minutes * 60_000)
    await stage.reconcile('dk')
    expect(await names('codemodules')).toEqual(times === 0 ? [OLD, USED] : [USED])
  })
})

describe('the data directory', () => {
  it('loses unknown directories and keeps files and what it knows', async () => {
    for (const path of ['tmp_zip/agent', 'cache/blobs', 'other', 'appmounts/csi-1', 'work']) await make(path)
    await writeFile(at('csi.db'), 'of an earlier release')
    await stage.reconcile('dk')
    expect(await names()).toEqual(['_dynakubes', 'appmounts', 'codemodules', 'csi.db', 'work'])
    expect(await names('appmounts')).toEqual(['csi-1'])
  })

  it('keeps an unknown directory while something is mounted in it', async () => {
    await make('other/mounted')
    overlay('other/mounted', 'elsewhere')
    await stage.reconcile('dk')
    expect(await names()).toContain('other')
  })

  it('loses what a Job left that no longer exists, once its pod cannot be running', async () => {
    await make('work/codemodule-download-1/agent')
    await utimes(at('work/codemodule-download-1'), stage.now() / 1_000, stage.now() / 1_000)
    await stage.reconcile('dk')
    // If it went now, a pod that is being stopped could still complete a directory of which a part is missing.
    expect(await names('work')).toEqual(['codemodule-download-1'])
    stage.pass(11 * 60_000 + 1_000)
    stage.restart()
    await stage.reconcile('dk')
    expect(await names('work')).toEqual([])
  })

  it('loses what a Job left also when no DynaKube is left', async () => {
    await make('work/codemodule-download-1/agent')
    await utimes(at('work/codemodule-download-1'), stage.now() / 1_000, stage.now() / 1_000)
    await stage.client.delete(DynaKubes, { namespace: NAMESPACE, name: 'dk' })
    const { requeueAfterMs = 0 } = (await stage.reconcile('dk')) ?? {}
    expect(requeueAfterMs).toBeGreaterThan(10 * 60_000)
    stage.pass(requeueAfterMs)
    expect(await stage.reconcile('dk')).toBeUndefined()
    expect(await names('work')).toEqual([])
  })

  it('loses volumes of earlier releases once they are not mounted', async () => {
    await make('abc12345/run/empty/mapped')
    await make('abc12345/run/full/mapped/agent')
    await stage.reconcile('dk')
    expect(await names('abc12345/run')).toEqual(['full'])
    await rm(at('abc12345/run/full/mapped/agent'), { recursive: true })
    for (let run = 0; run < 2; run++) {
      stage.restart()
      await stage.reconcile('dk')
    }
    expect(await names()).not.toContain('abc12345')
  })
})

describe('the storage of host agents', () => {
  const bind = (from: string) =>
    stage.mounts.push(
      { device: '8:1', root: '/', mountPoint: '/', type: 'ext4', options: {} },
      { device: '8:1', root: at(from), mountPoint: '/pods/agent/mount', type: 'ext4', options: {} },
    )

  it('is deleted with its DynaKube', async () => {
    await make('_dynakubes/gone/osagent/files')
    await stage.reconcile('dk')
    expect(await names('_dynakubes')).toEqual(['dk'])
  })

  it('stays while a pod has it mounted', async () => {
    await make('_dynakubes/gone/osagent/files')
    bind('_dynakubes/gone/osagent')
    await stage.reconcile('dk')
    expect(await names('_dynakubes/gone/osagent')).toEqual(['files'])
  })

  it('stays if something is mounted at it', async () => {
    await make('_dynakubes/gone/osagent/files')
    overlay('_dynakubes/gone/osagent', 'elsewhere')
    await stage.reconcile('dk')
    expect(await names('_dynakubes/gone/osagent')).toEqual(['files'])
  })

  it('stays for a DynaKube that monitors hosts, at its old place, too', async () => {
    await make('_dynakubes/hosts/osagent/files')
    await make('abc12345/osagent/files')
    await make('other123/osagent/files')
    await link('_dynakubes/linked/osagent', at('other123/osagent'))
    await stage.dynakube('hosts', {
      spec: { oneAgent: { hostMonitoring: {} }, apiUrl: 'https://abc12345.live.example.com/api' },
    })
    await stage.reconcile('dk')
    expect(await names('_dynakubes')).toEqual(['dk', 'hosts'])
    expect([await names('abc12345/osagent'), await names('_dynakubes/hosts/osagent')]).toEqual([['files'], ['files']])
    expect(await names('other123')).toEqual([])
  })
})
