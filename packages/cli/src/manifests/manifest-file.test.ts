import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseManifests, readManifests } from './manifest-file.ts'

const values = (text: string) => parseManifests('file.yaml', text).documents.map(({ value }) => value)

describe('files of manifests', () => {
  it('are read one after the other, including the standard input', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'manifests-'))
    const file = join(folder, 'one.yaml')
    await writeFile(file, 'kind: One\n---\nkind: Two')
    const { documents, problems } = await readManifests([file, '-'], async () => '{"kind": "Three"}')
    await rm(folder, { recursive: true })
    expect(documents.map(({ value }) => value)).toEqual([{ kind: 'One' }, { kind: 'Two' }, { kind: 'Three' }])
    expect(documents.map((document) => document.file)).toEqual([file, file, '<stdin>'])
    expect(problems).toEqual([])
  })

  it('in a folder are found below it, in alphabetical order; other files are ignored', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'manifests-'))
    await mkdir(join(folder, 'more'))
    await writeFile(join(folder, 'more', 'c.yml'), 'kind: C')
    await writeFile(join(folder, 'b.json'), '{"kind": "B"}')
    await writeFile(join(folder, 'a.yaml'), 'kind: A')
    await writeFile(join(folder, 'README.md'), '# a: [')
    await symlink(folder, join(folder, 'more', 'again'))
    const { documents } = await readManifests([folder], async () => '')
    await rm(folder, { recursive: true })
    expect(documents.map(({ value }) => value)).toEqual([{ kind: 'A' }, { kind: 'B' }, { kind: 'C' }])
  })

  it('without any object are an error, so that an empty file does not pass for a valid one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'manifests-'))
    const file = join(folder, 'empty.yaml')
    await writeFile(file, '# nothing yet\n---\n')
    await expect(readManifests([file], async () => '')).rejects.toThrow(`${file}: there is no object to read`)
    await rm(file)
    await expect(readManifests([folder], async () => '')).rejects.toThrow('no .yaml, .yml or .json files')
    await rm(folder, { recursive: true })
    await expect(readManifests(['-'], async () => '')).rejects.toThrow('the standard input: there is no object to read')
  })

  it('that do not exist fail with their name and the reason', async () => {
    await expect(readManifests(['/nowhere/webapp.yaml'], async () => '')).rejects.toThrow(
      '/nowhere/webapp.yaml: there is no such file or folder',
    )
  })

  it('skip documents without content', () => {
    expect(values('---\n# nothing\n---\nkind: One\n---\n')).toEqual([{ kind: 'One' }])
  })

  it('are parsed as by kubectl', () => {
    expect(values('a: yes\nb: off\nc: 0777\nd: 12:30\ne: 2025-01-01')).toEqual([
      { a: true, b: false, c: 0o777, d: '12:30', e: '2025-01-01' },
    ])
  })

  it('contain only JSON values', () => {
    expect(values('a: !!binary AAAA\nb: !!set {c: null}\nd: !!omap [{e: 1}]')).toEqual([
      { a: 'AAAA', b: { c: null }, d: [{ e: 1 }] },
    ])
  })

  it.each([
    ['a duplicate key', 'kind: a\nspec: {}\nkind: b', 3, 'duplicate key "kind"'],
    ['20,000 levels', `kind: a\nspec: ${'['.repeat(20_000)}`, 2, 'nested deeper than 256 levels'],
    ['an alias inside itself', 'kind: a\nspec: &a [*a]', 2, 'the alias *a is inside its own anchor'],
  ])('with %s are rejected by line', (_name, text, line, message) => {
    const { documents, problems } = parseManifests('file.yaml', text)
    expect(documents).toEqual([])
    expect(problems).toMatchObject([{ line, message }])
  })

  it('whose aliases expand to gigabytes are rejected', () => {
    const lists = Array.from({ length: 9 }, (_, index) => `b${index + 1}: &b${index + 1} [${`*b${index},`.repeat(10)}]`)
    const { documents, problems } = parseManifests('file.yaml', `b0: &b0 [x]\n${lists.join('\n')}`)
    expect(documents).toEqual([])
    expect(problems).toMatchObject([{ message: expect.stringContaining('alias') }])
  })

  it('report the position of invalid YAML, and continue with the next document', () => {
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
  ])('have the position of %s, or of its nearest parent', (field, position) => {
    const text = 'kind: WebApp\nspec:\n  image: nginx\n  env:\n    - name: HOST\n      value: a\n'
    expect(parseManifests('file.yaml', text).documents[0]?.locate(field)).toEqual(position)
  })
})

it('the position of a field is found in linear time', () => {
  const [document] = parseManifests('file.yaml', 'kind: One').documents
  // Matching each bracket again to the end would take minutes.
  expect(document?.locate('['.repeat(500_000))).toMatchObject({ line: 1, column: 1 })
})
