/** The page as it is shipped: small, complete, without anything from elsewhere. */
import { gzipSync } from 'node:zlib'
import { beforeAll, expect, it } from 'vitest'
import { remediesIn } from '../build/remedies.ts'
import { loadPage, type PageFiles } from '../src/index.ts'

const MAX_COMPRESSED_BYTES = 150 * 1024

let page: PageFiles

beforeAll(async () => {
  page = await loadPage()
})

const text = (path: string) => page.get(path)?.body.toString('utf8') ?? ''

it('the page of the console has at most 150 KB when it is compressed', () => {
  const bytes = [...page.values()].reduce((sum, { body }) => sum + gzipSync(body).length, 0)
  expect(bytes).toBeGreaterThan(10_000)
  expect(bytes).toBeLessThanOrEqual(MAX_COMPRESSED_BYTES)
})

it('the page of the console loads its own script and style sheet, and nothing else', () => {
  const html = text('/index.html')
  const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path)
  expect(loaded.filter((path) => path !== 'data:,').every((path) => page.has(path))).toBe(true)
  expect(loaded).toHaveLength(3)
  expect(html).not.toMatch(/<script(?![^>]*src=)/)
  for (const [path] of page) expect(text(path), path).not.toMatch(/url\(["']?https?:|@import|\bimport\(/)
})

it('the page of the console knows what to do about the error codes of the reference', () => {
  const script = [...page.keys()].find((path) => path.endsWith('.js')) ?? ''
  expect(text(script)).toContain('an object of the desired name exists and has no controller')
  const table = '| `A_B`, `C_D` | it broke | mend `x` |\n| no code | a | b |\n|---|---|---|'
  expect(remediesIn(table)).toEqual({
    A_B: { meaning: 'it broke', remedy: 'mend x' },
    C_D: { meaning: 'it broke', remedy: 'mend x' },
  })
})
