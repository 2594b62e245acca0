import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { binariesFolder, ensureBinaries, findBinaries } from './binaries.ts'

describe('finding the executables', () => {
  let folder: string
  let env: NodeJS.ProcessEnv
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'binaries-'))
    env = { PATH: '', REEVE_REAL_CLUSTER_CACHE: join(folder, 'cache') }
  })
  afterEach(() => rm(folder, { recursive: true }))

  const place = async (where: string, names: readonly string[]) => {
    await mkdir(where, { recursive: true })
    for (const name of names) {
      await writeFile(join(where, name), '')
      await chmod(join(where, name), 0o755)
    }
  }

  it('uses those in the cache', async () => {
    expect(await findBinaries(env)).toBeUndefined()
    const cache = await binariesFolder(env)
    await place(cache, ['etcd', 'kube-apiserver', 'kube-controller-manager'])
    expect(await findBinaries(env)).toEqual({
      etcd: join(cache, 'etcd'),
      'kube-apiserver': join(cache, 'kube-apiserver'),
      'kube-controller-manager': join(cache, 'kube-controller-manager'),
    })
  })

  it('prefers those in KUBEBUILDER_ASSETS', async () => {
    const assets = join(folder, 'assets')
    await place(assets, ['etcd', 'kube-apiserver'])
    await place(await binariesFolder(env), ['etcd', 'kube-apiserver', 'kube-controller-manager'])
    expect(await findBinaries({ ...env, KUBEBUILDER_ASSETS: assets })).toEqual({
      etcd: join(assets, 'etcd'),
      'kube-apiserver': join(assets, 'kube-apiserver'),
      'kube-controller-manager': join(await binariesFolder(env), 'kube-controller-manager'),
    })
  })

  it('rejects KUBEBUILDER_ASSETS without an API server', async () => {
    await place(join(folder, 'assets'), ['etcd'])
    const found = findBinaries({ ...env, KUBEBUILDER_ASSETS: join(folder, 'assets') })
    await expect(found).rejects.toMatchObject({ code: 'REAL_CLUSTER_ASSETS_INCOMPLETE' })
    await expect(found).rejects.toThrow('kube-apiserver')
  })

  it('explains how to get them when Go is missing', async () => {
    const built = ensureBinaries({ env })
    await expect(built).rejects.toMatchObject({ code: 'REAL_CLUSTER_GO_MISSING' })
    await expect(built).rejects.toThrow('KUBEBUILDER_ASSETS')
  })

  it('keeps a cache per version and platform in the home folder', async () => {
    expect(await binariesFolder({ XDG_CACHE_HOME: '/caches' })).toMatch(
      new RegExp(`^/caches/reeve/real-cluster/v1\\.\\d+\\.\\d+-${process.platform}-${process.arch}-[0-9a-f]{12}$`),
    )
  })
})
