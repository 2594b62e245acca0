import { mkdir, mkdtemp, readdir, readlink, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '@reeve/runtime'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DynaKube } from '../../api/latest.ts'
import { DataPaths } from '../data-paths.ts'
import { migrateAppMounts, migrateHostStorage } from './migrate-layout.ts'

let paths: DataPaths
beforeEach(async () => {
  paths = new DataPaths(await mkdtemp(join(tmpdir(), 'csi-init-')))
})
afterEach(() => rm(paths.root, { recursive: true, force: true }))

const context = () => ({ paths, logger: silentLogger })
const overlay = (mountPoint: string, type = 'overlay') => ({ device: '0:1', root: '/', mountPoint, type, options: {} })

describe('volumes of an earlier release', () => {
  it('are linked at their new place, once', async () => {
    const old = join(paths.root, 'tenant/run/vol-1')
    await mkdir(join(old, 'mapped'), { recursive: true })
    const mounts = [
      overlay(join(old, 'mapped')),
      overlay(join(paths.appMounts, 'vol-2/mapped')),
      overlay(join(paths.root, 'tenant/run/vol-3/mapped'), 'tmpfs'),
      overlay('/elsewhere/vol-4/mapped'),
      overlay(join(paths.root, 'mounted-by-hand')),
    ]
    await migrateAppMounts(mounts, context())
    await migrateAppMounts(mounts, context())
    expect(await readdir(paths.appMounts)).toEqual(['vol-1'])
    expect(await readlink(paths.appVolume('vol-1').root)).toBe(old)
  })

  it('are not touched where there is a volume already, and the folder is made without any', async () => {
    await migrateAppMounts([], context())
    await mkdir(paths.appVolume('vol-1').root)
    await migrateAppMounts([overlay(join(paths.root, 'tenant/run/vol-1/mapped'))], context())
    await expect(readlink(paths.appVolume('vol-1').root)).rejects.toThrow('EINVAL')
  })
})

describe('storage of host agents of an earlier release', () => {
  const TENANT = 'abc12345'
  const dynakube = (name: string, oneAgent: object, apiUrl = `https://${TENANT}.live.dynatrace.com/api`) =>
    // Only the paths that are checked.
    ({ metadata: { name }, spec: { apiUrl, oneAgent } }) as unknown as DynaKube
  const legacy = () => join(paths.root, TENANT, 'osagent')
  beforeEach(() => mkdir(legacy(), { recursive: true }))

  it.each([
    ['cloudNativeFullStack', `https://${TENANT}.live.dynatrace.com/api`],
    ['hostMonitoring', `https://gateway.example/e/${TENANT}/api`],
  ])('is linked for %s by the tenant in its address', async (mode, apiUrl) => {
    const dk = dynakube('dk', { [mode]: {} }, apiUrl)
    await migrateHostStorage([dk], context())
    await migrateHostStorage([dk], context())
    expect(await readlink(paths.hostStorage('dk'))).toBe(legacy())
  })

  it('is not linked for applications only, unknown tenants and storage that exists', async () => {
    await mkdir(paths.hostStorage('own'), { recursive: true })
    const host = { hostMonitoring: {} }
    await migrateHostStorage(
      [
        dynakube('app', { applicationMonitoring: {} }),
        dynakube('own', host),
        dynakube('other', host, 'https://other.live.dynatrace.com/api'),
        dynakube('broken', host, ''),
        dynakube('climbing', host, 'https://gateway.example/e/../api'),
      ],
      context(),
    )
    for (const name of ['app', 'own', 'other', 'broken', 'climbing']) {
      await expect(readlink(paths.hostStorage(name))).rejects.toThrow(/ENOENT|EINVAL/)
    }
    await expect(readdir(paths.dynakube('app'))).rejects.toThrow('ENOENT')
  })

  it('replaces a link that leads nowhere', async () => {
    await mkdir(paths.dynakube('dk'), { recursive: true })
    await symlink('/nowhere/at/all', paths.hostStorage('dk'))
    await migrateHostStorage([dynakube('dk', { hostMonitoring: {} })], context())
    expect(await readlink(paths.hostStorage('dk'))).toBe(legacy())
  })
})
