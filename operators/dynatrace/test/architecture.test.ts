/** The files in which docs/architecture.md follows one change of a DynaKube. */
import { access, readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { COMPONENTS } from '../src/controllers/dynakube/components.ts'

const page = new URL('../../../docs/architecture.md', import.meta.url)

it('a change of a DynaKube can be followed in at most 20 files, all of which exist', async () => {
  const [, section = ''] = (await readFile(page, 'utf8')).split('## Following one change')
  const [table = ''] = section.split('\n## ')
  const files = [...table.matchAll(/^\| \[`[^`]+`\]\(([^)]+)\) \|/gm)].map(([, file = '']) => file)
  expect(files.length).toBeGreaterThan(10)
  expect(files.length).toBeLessThanOrEqual(20)
  for (const file of files) await access(new URL(file, page))
})

it('every component of a DynaKube names what it may own, so that a failure keeps only that', () => {
  expect(COMPONENTS.filter(({ mayOwn }) => mayOwn === undefined).map(({ name }) => name)).toEqual([])
})
