import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SHARING_LIMITS, SharedParts } from './shared-parts.ts'

/** Forgets quickly, so that everything that can be evicted is. */
const TINY = { maxParts: 4, maxBytes: 4_096, maxSeen: 8, maxStrings: 2 }

/** One of many widgets: most of it is as in the others, but each setting contains its name. */
function widget(index: number) {
  return {
    kind: 'Widget',
    metadata: { name: `widget-${index}`, uid: `uid-${index}`, labels: { app: 'widgets', tier: 'back-end' } },
    spec: {
      host: `widget-${index}.example.com`,
      settings: ['FIRST', 'SECOND'].map((name) => ({ name, value: `the ${name} value of widget-${index}` })),
      template: { image: 'registry.example.com/widgets/widget:1.2.3', args: ['--listen', '--upstream', '127.0.0.1'] },
    },
    status: { replicas: index, isReady: index % 2 === 0, message: index % 3 === 0 ? null : `widget-${index} runs` },
  }
}

/** Widgets from 0 to `count`, as they come out of one cache. */
function shared(count: number) {
  const parts = new SharedParts()
  return Array.from({ length: count }, (_, index) => parts.freeze(widget(index)))
}

function isFrozenDeep(value: unknown): boolean {
  return (
    typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozenDeep))
  )
}

test('shared parts are frozen on every level, arrays included, in place', () => {
  const parts = new SharedParts()
  for (let index = 0; index < 10; index++) {
    const object = widget(index)
    expect(parts.freeze(object)).toBe(object)
    expect(isFrozenDeep(object)).toBe(true)
    expect(() => Object.assign(object.spec, { host: 'other' })).toThrow(TypeError)
  }
})

test('objects keep their values', () => {
  for (const [index, object] of shared(10).entries()) {
    expect(object).toStrictEqual(widget(index))
    expect(JSON.stringify(object)).toBe(JSON.stringify(widget(index)))
  }
})

test('objects of one template share their equal parts from the second on', () => {
  const [, second, third, fourth] = shared(4)
  expect(third?.spec.template).toBe(second?.spec.template)
  expect(fourth?.spec.template).toBe(second?.spec.template)
  expect(fourth?.metadata.labels).toBe(second?.metadata.labels)
  expect(fourth?.spec.settings).not.toBe(third?.spec.settings)
})

test('shared parts that are frozen are not touched', () => {
  const spec = Object.freeze({ text: 'a string that is long enough' })
  const parts = new SharedParts()
  for (let index = 0; index < 4; index++) expect(parts.freeze({ kind: 'Widget', spec }).spec).toBe(spec)
  const object = Object.freeze({ kind: 'Widget', spec })
  expect(parts.freeze(object)).toBe(object)
})

test('keys that could change a prototype stay keys', () => {
  const text = '{"spec":{"__proto__":{"isAdmin":true},"a":1},"__proto__":{"b":1}}'
  const parts = new SharedParts()
  for (let round = 0; round < 4; round++) {
    const object = parts.freeze(JSON.parse(text))
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype)
    expect(Object.getPrototypeOf(object.spec)).toBe(Object.prototype)
    expect(JSON.stringify(object)).toBe(text)
    expect(isFrozenDeep(object)).toBe(true)
  }
})

test.each([
  ['minus zero', { zero: -0 }, { zero: 0 }],
  ['undefined', { nothing: undefined }, {}],
  ['another order of keys', { a: 1, b: 2 }, { b: 2, a: 1 }],
  ['an array and an object', { list: [1] }, { list: { 0: 1 } }],
  ['objects of a class', { at: new Date(0) }, { at: new Date(1) }],
  ['fractions', { share: 0.25 }, { share: 0.5 }],
])('values that are almost equal stay different: %s', (_, one, other) => {
  const parts = new SharedParts()
  for (let round = 0; round < 4; round++) {
    for (const spec of [one, other]) {
      const object = parts.freeze({ spec: structuredClone(spec) })
      expect(object.spec).toStrictEqual(spec)
      expect(JSON.stringify(object.spec)).toBe(JSON.stringify(spec))
    }
  }
})

test('a value of ten thousand levels is frozen like any other', () => {
  const text = `${'{"a":['.repeat(5_000)}${']}'.repeat(5_000)}`
  const object = new SharedParts().freeze({ kind: 'Widget', spec: JSON.parse(text) })
  let levels = 0
  for (let at: unknown = object.spec; typeof at === 'object' && at !== null; at = Object.values(at)[0]) {
    expect(Object.isFrozen(at)).toBe(true)
    levels++
  }
  expect(levels).toBe(10_000)
})

test('any objects keep their values, in any order and however little is remembered', () => {
  const object = fc.record(
    {
      metadata: fc.record(
        { uid: fc.constantFrom('1', '2', '3'), annotations: fc.dictionary(fc.string(), fc.string({ maxLength: 300 })) },
        { noNullPrototype: true },
      ),
      spec: fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }),
      status: fc.object(),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  const versions = fc
    .array(object, { minLength: 1, maxLength: 8 })
    // The same ones again and again: what repeats takes other ways than what is new.
    .chain((objects) => fc.array(fc.constantFrom(...objects), { maxLength: 30 }))
  fc.assert(
    fc.property(versions, fc.boolean(), (objects, isTiny) => {
      const parts = new SharedParts(isTiny ? TINY : SHARING_LIMITS)
      const kept = objects.map((original) => parts.freeze(structuredClone(original)))
      for (const [index, original] of objects.entries()) {
        expect(kept[index]).toEqual(original)
        expect(JSON.stringify(kept[index])).toBe(JSON.stringify(original))
        expect(isFrozenDeep(kept[index])).toBe(true)
      }
    }),
    { numRuns: 50 },
  )
})

test('what is remembered is bounded, whatever is cached', () => {
  const few = new SharedParts({ ...SHARING_LIMITS, maxParts: 16 })
  const small = new SharedParts({ ...SHARING_LIMITS, maxBytes: 16_384 })
  for (let index = 0; index < 1_000; index++) {
    const spec = () => ({ list: Array.from({ length: 20 }, (_, item) => `item ${item} of ${index >> 1}`) })
    few.freeze({ spec: spec() })
    small.freeze({ spec: spec() })
  }
  expect(few.size).toBeGreaterThan(0)
  expect(few.size).toBeLessThanOrEqual(16)
  // Each list takes about 800 bytes.
  expect(small.size).toBeGreaterThan(0)
  expect(small.size).toBeLessThanOrEqual(2 * 20)
})

test('a part that would take the place of most others is not kept', () => {
  const parts = new SharedParts({ ...SHARING_LIMITS, maxBytes: 16_384 })
  for (let round = 0; round < 3; round++) parts.freeze({ data: { certificate: 'x'.repeat(2_000) } })
  expect(parts.size).toBe(0)
})
