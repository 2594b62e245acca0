import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findExplorations } from './find-explorations.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'explorations-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

async function module(path: string, name: string): Promise<void> {
  const file = join(root, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `export const exploration = { operator: { name: '${name}' }, scenario: {} }`)
}

describe('modules that describe operators', () => {
  it('are found by their file names, in sources and tests', async () => {
    await module('operators/shop/src/exploration.ts', 'shop')
    await module('operators/shop/test/sale.exploration.ts', 'shop-sale')
    await module('operators/bank/test/exploration.ts', 'bank')
    await module('operators/bank/src/other.ts', 'other')
    const found = await findExplorations(root)
    expect(found.map(({ operator }) => operator)).toEqual(['bank', 'shop', 'shop-sale'])
    expect(await findExplorations(root, { operators: ['shop'] })).toEqual([
      { operator: 'shop', path: join(root, 'operators/shop/src/exploration.ts') },
    ])
  })

  it('may be named instead', async () => {
    await module('operators/shop/src/exploration.ts', 'shop')
    await module('elsewhere/mine.ts', 'mine')
    const found = await findExplorations(root, { modules: ['elsewhere/mine.ts'] })
    expect(found.map(({ operator }) => operator)).toEqual(['mine'])
  })

  it('have names that tell operators apart', async () => {
    await module('operators/shop/src/exploration.ts', 'shop')
    await module('operators/shop/test/sale.exploration.ts', 'shop')
    await expect(findExplorations(root)).rejects.toThrow(
      'operators/shop/src/exploration.ts and operators/shop/test/sale.exploration.ts both describe "shop"',
    )
  })

  it('are asked for by names that exist', async () => {
    await expect(findExplorations(root)).rejects.toThrow('name one with --module')
    await module('operators/shop/src/exploration.ts', 'shop')
    await expect(findExplorations(root, { operators: ['ship'] })).rejects.toThrow('no operator "ship"; there is shop')
  })

  it('need not all be in order when only one of them is wanted', async () => {
    await module('operators/shop/src/exploration.ts', 'shop')
    await module('operators/bank/src/exploration.ts', 'bank')
    await writeFile(join(root, 'operators/bank/src/exploration.ts'), 'throw new Error("half done")')
    expect(await findExplorations(root, { operators: ['shop'] })).toHaveLength(1)
    await expect(findExplorations(root, { operators: ['bank'] })).rejects.toThrow(/cannot be loaded: half done/)
    await expect(findExplorations(root)).rejects.toThrow(/cannot be loaded: half done/)
  })
})
