import { chmod, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createLayer } from './layer.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-layer-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function tree(name: string, files: readonly string[], modifiedAt: Date): Promise<string> {
  const root = join(folder, name)
  await mkdir(join(root, 'app'), { recursive: true })
  for (const file of files) {
    await writeFile(join(root, 'app', file), `content of ${file}`)
    await chmod(join(root, 'app', file), 0o755)
    await utimes(join(root, 'app', file), modifiedAt, modifiedAt)
  }
  await symlink('app', join(root, 'link'))
  return root
}

it('a layer is the same independent of time and order in which its files were written', async () => {
  const first = await createLayer(await tree('first', ['a', 'b', 'c'], new Date(1e12)), 0)
  const second = await createLayer(await tree('second', ['c', 'b', 'a'], new Date(1.5e12)), 0)
  expect(second.diffId).toBe(first.diffId)
  expect(second.blob.equals(first.blob)).toBe(true)
})

it('a layer differs when a file does', async () => {
  const first = await createLayer(await tree('third', ['a'], new Date(1e12)), 0)
  const second = await createLayer(await tree('fourth', ['b'], new Date(1e12)), 0)
  expect(second.diffId).not.toBe(first.diffId)
})
