import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findExplorations } from './exploration-modules.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'explorations-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

async function write(path: string, text: string): Promise<void> {
  const file = join(root, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}

const module = (path: string, name: string) =>
  write(path, `export const exploration = { operator: { name: '${name}' }, scenario: {} }`)

const declare = (folder: string, ...explorations: readonly string[]) =>
  write(`${folder}/package.json`, JSON.stringify({ reeve: { explorations } }))

/** A repository with a workspace, and a module in it for each name. */
async function repository(...names: readonly string[]): Promise<void> {
  await write('package.json', '{ "workspaces": ["operators/*"] }')
  for (const name of names) {
    await declare(`operators/${name}`, './explore.ts')
    await module(`operators/${name}/explore.ts`, name)
  }
}

describe('modules that describe operators', () => {
  it('are those that the workspaces declare in their package.json', async () => {
    await repository('shop', 'bank')
    await declare('operators/shop', './explore.ts', './sale.ts')
    await module('operators/shop/sale.ts', 'shop-sale')
    await module('operators/bank/undeclared.ts', 'other')
    await write('operators/club/package.json', '{ "name": "club" }')
    const found = await findExplorations(root)
    expect(found.map(({ operator }) => operator)).toEqual(['bank', 'shop', 'shop-sale'])
    expect(await findExplorations(root, { operators: ['shop'] })).toEqual([
      { operator: 'shop', path: join(root, 'operators/shop/explore.ts') },
    ])
  })

  it('may be declared by a package without workspaces', async () => {
    await declare('.', './explore.ts')
    await module('explore.ts', 'alone')
    expect(await findExplorations(root)).toEqual([{ operator: 'alone', path: join(root, 'explore.ts') }])
  })

  it('may be named instead', async () => {
    await repository('shop')
    await module('elsewhere/mine.ts', 'mine')
    const found = await findExplorations(root, { modules: ['elsewhere/mine.ts'] })
    expect(found.map(({ operator }) => operator)).toEqual(['mine'])
  })

  it('have unique operator names', async () => {
    await repository('shop')
    await declare('operators/shop', './explore.ts', './sale.ts')
    await module('operators/shop/sale.ts', 'shop')
    await expect(findExplorations(root)).rejects.toThrow(
      'operators/shop/explore.ts and operators/shop/sale.ts both describe "shop"',
    )
  })

  it('are requested by existing names', async () => {
    await expect(findExplorations(root)).rejects.toThrow('name one with --module')
    await repository('shop')
    await expect(findExplorations(root, { operators: ['ship'] })).rejects.toThrow('no operator "ship"; there is shop')
  })

  it('need not all be valid when only one of them is requested', async () => {
    await repository('shop', 'bank')
    await write('operators/bank/explore.ts', 'throw new Error("half done")')
    expect(await findExplorations(root, { operators: ['shop'] })).toHaveLength(1)
    await expect(findExplorations(root, { operators: ['bank'] })).rejects.toThrow(/cannot be loaded: half done/)
    await expect(findExplorations(root)).rejects.toThrow(/cannot be loaded: half done/)
  })

  it.each([
    [
      '{ "reeve": { "explorations": "./explore.ts" } }',
      'operators/bank/package.json: reeve.explorations must be a list',
    ],
    ['{ "reeve": ', 'operators/bank/package.json is not valid JSON'],
  ])('are not declared by %s', async (manifest, problem) => {
    await repository('shop')
    await write('operators/bank/package.json', manifest)
    await expect(findExplorations(root)).rejects.toThrow(problem)
  })
})
