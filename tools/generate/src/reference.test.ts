import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { absolutePath } from './generated-files.ts'

const read = (path: string) => readFile(absolutePath(path), 'utf8')
const sources = async (folder: string) => {
  const files = globSync('**/*.ts', { cwd: absolutePath(folder) }).filter((file) => !file.includes('.test.'))
  return (await Promise.all(files.map((file) => read(`${folder}/${file}`)))).join('\n')
}
const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '')
const matches = (text: string, pattern: RegExp) => [
  ...new Set([...text.matchAll(pattern)].map(([, name = '']) => name)),
]

describe('docs/reference.md', () => {
  it.each([
    ...['archives', 'helm', 'http', 'kube', 'oci', 'runtime'].map((name) => `packages/${name}/src`),
    'operators/dynatrace/src',
  ])('has a line for every error code of %s', async (folder) => {
    const codes = matches(await sources(folder), /(?:super\(|RuntimeError\(|code = )\s*'([A-Z][A-Z_]{3,})'/g)
    expect(codes).not.toEqual([])
    const reference = await read('docs/reference.md')
    expect(codes.filter((code) => !reference.includes(`\`${code}\``))).toEqual([])
  })

  it('has a line for every metric of the runtime', async () => {
    const names = matches(
      withoutComments(await sources('packages/runtime/src')),
      /'([a-z_]+(?:_total|_seconds|_status|_depth|_workers|_reconciles|_in_flight|_objects))'/g,
    )
    expect(names.length).toBeGreaterThan(20)
    const reference = await read('docs/reference.md')
    expect(names.filter((name) => !reference.includes(`\`${name}\``))).toEqual([])
  })
})
