import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { publicPackages } from './public-packages.ts'

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'reeve-public-'))
  await writeFile(join(root, 'package.json'), JSON.stringify({ name: 'root', workspaces: ['packages/*'] }))
})
afterAll(() => rm(root, { recursive: true, force: true }))

async function addPackage(name: string, more: object): Promise<void> {
  const folder = join(root, 'packages', name)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name, version: '1.0.0', ...more }))
}

test('a package comes after those that it depends on, and private ones are left out', async () => {
  await addPackage('a', { dependencies: { c: '1.0.0' } })
  await addPackage('b', { private: true })
  await addPackage('c', { dependencies: { yaml: '2.0.0' } })
  expect((await publicPackages(root)).map(({ manifest }) => manifest.name)).toEqual(['c', 'a'])
})

test('a public package cannot depend on a private one', async () => {
  await addPackage('d', { dependencies: { b: '1.0.0' } })
  await expect(publicPackages(root)).rejects.toThrow('d is public and depends on b, which is private')
})
