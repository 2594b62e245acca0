import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_CONFIGURATION_BYTES } from './api/collector.ts'
import { decodeConfiguration, mergeValues } from './decode-configuration.ts'
import { releaseKeyOf } from './release-key.ts'
import { collectorOf, configuration } from './testing/collector.ts'
import { validateCollector, validationRules } from './validate-collector.ts'

describe('a Collector', () => {
  it('declares a release named after collector and instance, in the namespace of its tenant', () => {
    expect(releaseKeyOf(collectorOf().spec)).toEqual({ namespace: 'acme', name: 'metrics-eu1' })
  })

  it('is accepted with as little as it needs', () => {
    expect(validateCollector(collectorOf(), { clusters: ['development'] })).toEqual([])
  })

  it.each([
    ['configuration that is not Base64', { configuration: 'replicas: 2' }, 'configuration', /is not Base64: encode/],
    ['configuration that is not YAML', { configuration: configuration('a: [') }, 'configuration', /YAML in line 1/],
    ['configuration that is not a map', { configuration: configuration('- a') }, 'configuration', /not a map/],
    ['configuration of two documents', { configuration: configuration('a: 1\n---\nb: 2') }, 'configuration', /several/],
    ['configuration that is not text', { configuration: '/w==' }, 'configuration', /not UTF-8/],
    ['an invalid version', { version: 'newest' }, 'version', /"newest" is neither a version nor a range/],
    ['a name with capitals', { name: 'Metrics' }, 'name', /./],
  ])('with %s is refused', (_, collector, field, message) => {
    const problems = validateCollector(collectorOf({ collector }))
    expect(problems).toMatchObject([{ field: `spec.collector.${field}`, message: expect.stringMatching(message) }])
  })

  it('with a configuration over the limit is refused', () => {
    const large = configuration(`a: ${'x'.repeat(MAX_CONFIGURATION_BYTES)}`)
    const [problem, ...others] = validateCollector(collectorOf({ collector: { configuration: large } }))
    expect(problem?.field).toBe('spec.collector.configuration')
    expect(others).toEqual([])
    expect(decodeConfiguration(large).problem?.message).toMatch(/at most 262144 are accepted/)
  })

  it.each([
    ['a tenant that is not a namespace name', { reference: 'acme corp' }, 'reference', /is not a valid namespace name/],
    ['a name of a release that is too long', { instance: 'x'.repeat(50) }, 'instance', /Helm allows 53; shorten/],
  ])('with %s is refused', (_, tenant, field, message) => {
    const problems = validateCollector(collectorOf({ tenant }))
    expect(problems).toMatchObject([{ field: `spec.tenant.${field}`, message: expect.stringMatching(message) }])
  })

  it('for a cluster that the operator does not know is refused, with those it knows', () => {
    const problems = validateCollector(collectorOf(), { clusters: ['staging', 'production'] })
    const message = '"development" is unknown: use one of staging, production'
    expect(problems).toEqual([{ field: 'spec.cluster', message }])
  })

  it('may act as an account that the operator may act as, and name no other', () => {
    const asking = (serviceAccountName: string) => collectorOf({ spec: { serviceAccountName } })
    const settings = { clusters: { development: { type: 'directory', location: '/' } }, serviceAccounts: ['deployer'] }
    const rules = validationRules(settings)
    expect(validateCollector(asking('deployer'), rules)).toEqual([])
    expect(validateCollector(asking('collector'), rules)).toEqual([])
    expect(validateCollector(asking('admin'), rules)).toEqual([
      {
        field: 'spec.serviceAccountName',
        message: '"admin" is not allowed by the settings of the operator: use one of collector, deployer',
      },
    ])
    expect(validateCollector(asking('admin'), validationRules({ ...settings, serviceAccounts: ['*'] }))).toEqual([])
    for (const name of ['-x', 'system:masters', 'a b', '../a', 'A']) {
      expect(validateCollector(asking(name), rules).map(({ field }) => field)).toContain('spec.serviceAccountName')
    }
  })

  it('may use its own chart only when that is allowed, and pinned when it is a plain URL', () => {
    const chart = { type: 'url' as const, url: 'http://charts.example.com/a.tgz' }
    const own = collectorOf({ collector: { chart } })
    expect(validateCollector(own, { areChartOverridesAllowed: false })).toMatchObject([
      { field: 'spec.collector.chart', message: expect.stringMatching(/not allowed/) },
    ])
    expect(validateCollector(own).map(({ field }) => field)).toEqual([
      'spec.collector.chart.url',
      'spec.collector.chart.digest',
    ])
  })

  it('without the reference of its tenant is refused for that alone', () => {
    const { reference: _, ...tenant } = collectorOf().spec.tenant
    // A webhook is given what the server did not check.
    const incomplete = collectorOf({ spec: { tenant } as object })
    expect(validateCollector(incomplete).map(({ field }) => field)).toEqual(['spec.tenant.reference'])
  })

  it('reports all problems together', () => {
    const bad = collectorOf({ collector: { configuration: '!', version: '?' }, tenant: { reference: '-' } })
    expect(validateCollector(bad, { clusters: [] }).map(({ field }) => field)).toEqual([
      'spec.collector.configuration',
      'spec.collector.version',
      'spec.tenant.reference',
      'spec.cluster',
    ])
  })
})

describe('a configuration', () => {
  it('returns any map of JSON values', () => {
    const maps = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { noNullPrototype: true })
    fc.assert(
      fc.property(maps, (values) => {
        fc.pre(!Object.hasOwn(values, '__proto__'))
        const plain = JSON.parse(JSON.stringify(values))
        expect(decodeConfiguration(configuration(JSON.stringify(values))).values).toEqual(plain)
      }),
    )
  })

  it('is read or rejected, whatever its bytes, and never quoted', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const { values, problem } = decodeConfiguration(Buffer.from(bytes).toString('base64'))
        expect(values === undefined).toBe(problem !== undefined)
      }),
    )
    const { problem } = decodeConfiguration(configuration('password: "geheim'))
    expect(problem?.message).not.toContain('geheim')
  })

  it('that expands or nests excessively, or is not representable as JSON, is rejected', () => {
    const bomb = ['a: &a [x,x,x,x,x,x,x,x,x,x]', ...'bcdefg'].map((line, index, all) =>
      index === 0 ? line : `${line}: &${line} [${`*${(all[index - 1] ?? '').charAt(0)},`.repeat(10)}]`,
    )
    expect(decodeConfiguration(configuration(bomb.join('\n'))).problem?.message).toMatch(/aliases/)
    expect(decodeConfiguration(configuration('a: .nan')).problem?.message).toMatch(/number at a /)
    const deep = `a: ${'['.repeat(100)}${']'.repeat(100)}`
    expect(decodeConfiguration(configuration(deep)).problem?.message).toMatch(/deeper than 64 levels/)
  })

  it.each([
    ['maps as keys of maps', '? '.repeat(600)],
    ['a map of very many keys', Array.from({ length: 15_000 }, (_, index) => `${index.toString(36)}:`).join('\n')],
    ['nothing but mistakes', '}'.repeat(MAX_CONFIGURATION_BYTES)],
  ])('does not block its reader by %s', (_, text) => {
    const { values, problem } = decodeConfiguration(configuration(text))
    expect(values === undefined).toBe(problem !== undefined)
  })

  it('may have the line breaks that base64 prints, and may be empty', () => {
    const packed = configuration('replicas: 2\nimage: {tag: "1"}\n')
    const wrapped = `${packed.slice(0, 10)}\n${packed.slice(10)}\n`
    expect(decodeConfiguration(wrapped).values).toEqual({ replicas: 2, image: { tag: '1' } })
    expect(decodeConfiguration('').values).toEqual({})
  })

  it('is laid under the values of a Secret, map by map', () => {
    const merged = mergeValues({ image: { tag: '1', name: 'a' }, list: [1] }, { image: { tag: '2' }, list: [2] })
    expect(merged).toEqual({ image: { tag: '2', name: 'a' }, list: [2] })
  })

  it('keeps a value named __proto__ a value', () => {
    const merged = mergeValues({ a: 1 }, JSON.parse('{"__proto__":{"isAdmin":true},"constructor":{"b":2}}'))
    expect(JSON.stringify(merged)).toBe('{"a":1,"__proto__":{"isAdmin":true},"constructor":{"b":2}}')
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype)
  })
})
