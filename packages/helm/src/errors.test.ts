import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import * as errors from './errors.ts'

describe('the errors of this package', () => {
  it('each have a line in the reference', async () => {
    const read = (path: string) => readFile(new URL(path, import.meta.url), 'utf8')
    const [source, reference] = await Promise.all([read('./errors.ts'), read('../../../docs/reference.md')])
    const codes = [...source.matchAll(/override readonly code = '(\w+)'/g)].map(([, code = '']) => code)
    expect(codes.length).toBeGreaterThan(20)
    expect(codes.filter((code) => !reference.includes(`\`${code}\``))).toEqual([])
  })

  it('share one base class', () => {
    const classes = Object.values(errors).filter(
      (value) => typeof value === 'function' && /^[A-Z]\w+Error$/.test(value.name),
    )
    expect(
      classes.filter((type) => type !== errors.HelmError && !(type.prototype instanceof errors.HelmError)),
    ).toEqual([])
  })
})
