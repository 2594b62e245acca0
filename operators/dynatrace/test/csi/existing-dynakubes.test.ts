import { mkdir } from 'node:fs/promises'
import { scratchFolder } from '@reeve/archives/testing'
import { expect, it } from 'vitest'
import { DataPaths } from '../../src/csi/data-paths.ts'
import { existingDynaKubes } from '../../src/csi/provisioner/cleanup/existing-dynakubes.ts'
import { NAMESPACE, provisionerStage } from './support/provisioner-stage.ts'

it('a DynaKube that was created after the list is found, and only directories of others are missing', async () => {
  await using stage = await provisionerStage()
  await using scratch = await scratchFolder()
  const paths = new DataPaths(scratch.target)
  for (const name of ['again', 'gone', 'Not_A_Name']) await mkdir(paths.dynakube(name), { recursive: true })
  await stage.dynakube('listed', {})
  const { client } = stage
  const { signal } = new AbortController()
  const lateClient: Parameters<typeof existingDynaKubes>[0]['client'] = {
    get: (...args) => client.get(...args),
    async listAll(...args) {
      const list = await client.listAll(...args)
      await stage.dynakube('again', {})
      return list
    },
  }
  const found = await existingDynaKubes({ client: lateClient, namespace: NAMESPACE, paths, signal })
  expect(found.map(({ metadata }) => metadata.name)).toEqual(['listed', 'again'])
})
