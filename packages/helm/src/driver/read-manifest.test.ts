import { describe, expect, it } from 'vitest'
import { TemplateError } from '../errors.ts'
import { manifestObjects, readManifest, readManifests } from './read-manifest.ts'

const namesIn = (manifest: string) =>
  manifestObjects(manifest).map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? '-'}/${metadata.name}`)
const configMap = (metadata: string, rest = '') => `apiVersion: v1\nkind: ConfigMap\nmetadata: ${metadata}\n${rest}`

describe('a manifest is read as Helm reads it', () => {
  it('passes over empty documents and comments', () => {
    expect(namesIn('')).toEqual([])
    expect(namesIn(`---\n# nothing\n\n---\n# Source: a.yaml\n${configMap('{name: a}')}--- # end\n`)).toEqual([
      'ConfigMap -/a',
    ])
  })

  it('expands lists of any kind, and lists in lists', () => {
    const item = (name: string) => `{apiVersion: v1, kind: Pod, metadata: {name: ${name}, namespace: other}}`
    expect(namesIn(`apiVersion: v1\nkind: List\nitems: [${item('a')}]`)).toEqual(['Pod other/a'])
    expect(namesIn(configMap('{name: hides}', `items: [${item('a')}, {items: [${item('b')}]}]`))).toEqual([
      'Pod other/a',
      'Pod other/b',
    ])
  })

  it('uses the last of duplicate keys', () => {
    const twice = configMap('{name: a, namespace: mine, namespace: other}', 'data: {a: "1"}\ndata: {b: "2"}')
    expect(namesIn(twice)).toEqual(['ConfigMap other/a'])
    expect(manifestObjects(twice)[0]?.data).toEqual({ b: '2' })
  })

  it('treats an empty namespace as that of the release', () => {
    expect(namesIn(`${configMap('{name: a, namespace: }')}---\n${configMap('{name: b, namespace: ""}')}`)).toEqual([
      'ConfigMap -/a',
      'ConfigMap -/b',
    ])
  })

  it('reads scalars as YAML 1.1, without times and dates', () => {
    const [object] = manifestObjects(configMap('{name: a}', 'mode: 0755\nis: yes\ntime: 12:30\nday: 2001-01-01'))
    expect(object).toMatchObject({ mode: 0o755, is: true, time: '12:30', day: '2001-01-01' })
  })

  it('merges anchors where an object does not say what it is', () => {
    const merged = configMap('{name: a}', 'data: {<<: {a: "1"}, b: "2"}')
    expect(manifestObjects(merged)[0]?.data).toEqual({ a: '1', b: '2' })
  })
})

describe('a document that parsers read differently', () => {
  // In each of these Helm finds the namespace "other", and another parser may find none.
  it.each([
    ['a merge key in the metadata', `x: &x {namespace: other}\n${configMap('{name: a, <<: *x}')}`],
    ['a merge key at the top', `<<: {metadata: {name: a, namespace: other}}\n${configMap('{name: a}')}`],
    ['a key in Base64', configMap('{name: a, !!binary bmFtZXNwYWNl: other}')],
    ['a namespace in Base64', configMap('{name: a, namespace: !!binary b3RoZXI=}')],
    ['metadata by an alias', `x: &x {name: a, namespace: other}\n${configMap('*x')}`],
    ['a line that ends with another line separator', configMap('\n  name: a # \u2028  namespace: other')],
    ['a carriage return', configMap('\n  name: a # \r  namespace: other')],
    ...['\u2028', '\u2029', '\u0085', '\r'].map((end) => [
      `nothing but a comment, which ends with ${JSON.stringify(end)}`,
      `# x${end}${configMap('{name: a, namespace: other}').replaceAll('\n', end)}`,
    ]),
    ['the end of a document within it', `${configMap('{name: a}')}...\n${configMap('{name: b, namespace: other}')}`],
    ['a separator with something behind it', `${configMap('{name: a}')}---x: 1\n${configMap('{name: b}')}`],
  ])('is a problem, not an object: %s', (_, manifest) => {
    const { objects, problems } = readManifest(manifest)
    expect(objects).toEqual([])
    expect(problems).toEqual([expect.stringMatching(/^document 1 (has|contains|is not valid YAML) /)])
  })

  it.each(['- a', 'apiVersion: v1\nkind: Pod', 'a: [', 'hunter2', configMap('{name: [hunter2]}'), '? [a]'])(
    'is named and not quoted: %j',
    (manifest) => {
      expect(readManifest(manifest).problems).toEqual([expect.stringMatching(/^document 1 /)])
      expect(readManifest(manifest).problems.join()).not.toContain('hunter2')
      expect(() => manifestObjects(manifest)).toThrow(TemplateError)
    },
  )

  it('does not hide the others', () => {
    const { objects, problems } = readManifest(`${configMap('{name: a}')}---\na: [\n---\n${configMap('{name: c}')}`)
    expect(objects.map(({ metadata }) => metadata.name)).toEqual(['a', 'c'])
    expect(problems).toEqual([expect.stringMatching(/^document 2 is not valid YAML in line \d \(/)])
  })

  it('does not expand aliases without limit', () => {
    const levels = ['b', 'c', 'd', 'e'].map((key, index) => {
      const below = `*${'abcd'[index]}`
      return `${key}: &${key} [${Array.from({ length: 9 }, () => below).join()}]`
    })
    expect(readManifest(`a: &a [1]\n${levels.join('\n')}\n`).problems).toHaveLength(1)
  })

  // Each is at most 8 Mi characters and fits, packed, into a small Secret.
  it.each([
    ['small documents', '---\na\n'.repeat(1_398_101)],
    ['empty documents', '---\n'.repeat(2_097_152)],
    ['valid documents', `---\n${configMap('{name: a}')}`.repeat(150_000)],
    [
      'a list',
      `apiVersion: v1\nkind: List\nitems:\n${'- {apiVersion: v1, kind: A, metadata: {name: a}}\n'.repeat(501)}`,
    ],
    ['lists in lists', `${configMap('{name: a}')}x: [${'[],'.repeat(200_000)}]\n`],
    ['empty lines', `${configMap('{name: a}')}${'\n'.repeat(8_000_000)}a: 1\n`],
    ['lines of a text', `${configMap('{name: a}')}x: |\n${'  a\n'.repeat(2_000_000)}`],
    ['one long line', `${configMap('{name: a}')}x: ${'a '.repeat(4_000_000)}\n`],
    ['aliases', `a: &a [${'1,'.repeat(4_000)}]\nb: [${'*a,'.repeat(99)}]\n`],
    ['comments', '# a\n'.repeat(2_000_000)],
  ])('is not read when that would cost too much: %s', (_, manifest) => {
    readManifest(configMap('{name: a}'))
    const before = process.threadCpuUsage()
    const { objects, problems, exceedsLimits } = readManifest(manifest)
    const { user, system } = process.threadCpuUsage(before)
    expect(user + system, 'microseconds').toBeLessThan(250_000)
    expect({ objects, exceedsLimits }).toEqual({ objects: [], exceedsLimits: true })
    expect(problems).toEqual([expect.stringMatching(/^it has more than/)])
  })

  // What is just within the limits.
  it.each([
    ['objects', `---\n${configMap('{name: a}')}`.repeat(490)],
    ['a list', `${configMap('{name: a}')}x: [${'[],'.repeat(9_000)}]\n`],
    ['lines', `${configMap('{name: a}')}x:\n${'  a\n'.repeat(190_000)}`],
    ['a text', `${configMap('{name: a}')}x: |\n${'  a\n'.repeat(190_000)}`],
  ])('is read in a fraction of a second: %s', (_, manifest) => {
    readManifest(configMap('{name: a}'))
    const before = process.threadCpuUsage()
    expect(readManifest(manifest).problems).toEqual([])
    const { user, system } = process.threadCpuUsage(before)
    expect(user + system, 'microseconds').toBeLessThan(250_000)
  })

  it('costs as much in many manifests as in one', () => {
    const large = `${configMap('{name: a}')}x: [${'1,'.repeat(4_000)}]\n`
    const read = readManifests([large, large, large, large, configMap('{name: b}')])
    expect(read.map(({ exceedsLimits }) => exceedsLimits)).toEqual([false, false, false, true, true])
  })

  it('is not read beyond a size that no record has', () => {
    expect(readManifest(' '.repeat(9 * 1024 * 1024)).problems).toEqual([expect.stringContaining('at most 8388608')])
  })
})
