import { mkdir, readdir } from 'node:fs/promises'
import { scratchFolder } from '@reeve/archives/testing'
import { expect, it } from 'vitest'
import { DataPaths } from '../data-paths.ts'
import { linkPod, readPodInfo, removePodLink, writePodInfo } from './pod-link.ts'

it('the link of a pod is made and removed while other pods of the namespace come and go', async () => {
  await using scratch = await scratchFolder()
  const paths = new DataPaths(scratch.target)
  await mkdir(paths.dynakube('dk'), { recursive: true })
  const comeAndGo = async (pod: string) => {
    const volume = paths.appVolume(pod)
    const link = paths.podLink('dk', 'shop', pod)
    await mkdir(volume.upper, { recursive: true })
    for (let round = 0; round < 50; round++) {
      writePodInfo(volume, link)
      await linkPod(volume, link)
      await removePodLink(await readPodInfo(volume), volume, paths)
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, pod) => comeAndGo(`web-${pod}`)))
  expect(await readdir(`${paths.dynakube('dk')}/appmounts`)).toEqual([])
})
