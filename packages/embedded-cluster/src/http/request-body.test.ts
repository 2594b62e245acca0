import { describe, expect, it } from 'vitest'
import { parsePatch } from './request-body.ts'

const apply = (body: string) =>
  parsePatch({ method: 'PATCH', path: '/', headers: { 'content-type': 'application/apply-patch+yaml' }, body })

describe('a body declared as YAML', () => {
  it('may be JSON', async () => {
    expect(await apply(' {"a": [1, true, null]}')).toEqual({
      value: { a: [1, true, null] },
      duplicates: [],
      isYaml: true,
    })
  })

  it('may start like JSON and be YAML', async () => {
    expect((await apply('{a: [b, 0o17]} # a note')).value).toEqual({ a: ['b', 15] })
  })

  it('names duplicate fields of JSON with their lines, as those of YAML', async () => {
    for (const text of ['{"data":\n{"a":1,\n"a":2}}', 'data:\n  a: 1\n  a: 2\n']) {
      const { duplicates, duplicateKeys, isYaml } = await apply(text)
      expect({ duplicates, duplicateKeys, isYaml }).toEqual({
        duplicates: ['data.a'],
        duplicateKeys: ['line 3: key "a" already set in map'],
        isYaml: true,
      })
    }
  })

  it('is rejected when it is nested too deep, as JSON and as YAML', async () => {
    await expect(apply('['.repeat(3000) + ']'.repeat(3000))).rejects.toThrow('nested deeper')
    await expect(apply(`a: ${'['.repeat(3000)}`)).rejects.toThrow('nested deeper')
  })
})
