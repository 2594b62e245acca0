import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseManifests, readManifests } from './manifest-file.ts'

const values = (text: string) => parseManifests('file.yaml', text).documents.map(({ value }) => value)

describe('files of manifests', () => {
  it('are read one after the other, the standard input among them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'manifests-'))
    const file = join(folder, 'one.yaml')
    await writeFile(file, 'kind: One\n---\nkind: Two')
    const { documents, problems } = await readManifests([file, '-'], async () => '{"kind": "Three"}')
    await rm(folder, { recursive: true })
    expect(documents.map(({ value }) => value)).toEqual([{ kind: 'One' }, { kind: 'Two' }, { kind: 'Three' }])
    expect(documents.map((document) => document.file)).toEqual([file, file, '<stdin>'])
    expect(problems).toEqual([])
  })

  it('that are not there fail with their name', async () => {
    await expect(readManifests(['/nowhere/webapp.yaml'], async () => '')).rejects.toThrow('/nowhere/webapp.yaml')
  })

  it('leave out documents without content', () => {
    expect(values('---\n# nothing\n---\nkind: One\n---\n')).toEqual([{ kind: 'One' }])
  })

  it('mean what they mean to kubectl', () => {
    expect(values('a: yes\nb: off\nc: 0777\nd: 12:30\ne: 2025-01-01')).toEqual([
      { a: true, b: false, c: 0o777, d: '12:30', e: '2025-01-01' },
    ])
  })

  it('tell where it is that they are no YAML, and go on with the next document', () => {
    const { documents, problems } = parseManifests('file.yaml', 'kind: [One\n---\nkind: Two')
    expect(documents.map(({ value }) => value)).toEqual([{ kind: 'Two' }])
    expect(problems).toEqual([{ file: 'file.yaml', line: 2, column: 1, message: expect.any(String) }])
  })

  it.each([
    ['spec.image', { line: 3, column: 3 }],
    ['spec.env[0].value', { line: 6, column: 7 }],
    ['spec.env[HOST].value', { line: 6, column: 7 }],
    ['spec.env[7]', { line: 4, column: 3 }],
    ['spec.replicas', { line: 2, column: 1 }],
    ['status', { line: 1, column: 1 }],
  ])('tell where %s stands, or else its nearest parent', (field, position) => {
    const text = 'kind: WebApp\nspec:\n  image: nginx\n  env:\n    - name: HOST\n      value: a\n'
    expect(parseManifests('file.yaml', text).documents[0]?.locate(field)).toEqual(position)
  })
})
