import { inspect } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { COMPACTION_LIMITS, ObjectCompactor } from './object-compactor.ts'

/** Forgets quickly, so that everything that can be evicted is. */
const TINY = { maxParts: 3, maxBytes: 4_096, maxSeen: 8, maxStrings: 2, maxUnpacked: 1, maxUnpackedBytes: 1_000 }

interface Widget {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly uid: string; readonly labels: Readonly<Record<string, string>> }
  readonly spec: {
    readonly host: string
    readonly settings: readonly { readonly name: string; readonly value: string }[]
    readonly template: { readonly image: string; readonly args: readonly string[] }
  }
  readonly status: { readonly replicas: number; readonly isReady: boolean; readonly message: string | null }
}

/** One of many widgets: most of it is as in the others, but each setting contains its name. */
function widget(index: number): Widget {
  return {
    kind: 'Widget',
    metadata: { name: `widget-${index}`, uid: `uid-${index}`, labels: { app: 'widgets', tier: 'back-end' } },
    spec: {
      host: `widget-${index}.example.com`,
      settings: ['FIRST', 'SECOND', 'THIRD', 'FOURTH'].map((name) => ({
        name,
        value: `the ${name.toLowerCase()} value of widget-${index}`,
      })),
      template: { image: 'registry.example.com/widgets/widget:1.2.3', args: ['--listen', '--upstream', '127.0.0.1'] },
    },
    status: { replicas: index, isReady: index % 2 === 0, message: index % 3 === 0 ? null : `widget-${index} runs` },
  }
}

/** Widgets from 0 to `count`, as they come out of one cache. */
function compacted(count: number, compactor = new ObjectCompactor()): readonly Widget[] {
  return Array.from({ length: count }, (_, index) => compactor.compact(widget(index)))
}

function isFrozenDeep(value: unknown): boolean {
  return (
    typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozenDeep))
  )
}

test('freezes every level, arrays included', () => {
  const objects = compacted(10)
  expect(objects.every(isFrozenDeep)).toBe(true)
  expect(() => Object.assign(objects[5]?.spec ?? {}, { host: 'other' })).toThrow(TypeError)
})

test('objects look as before, to every way of reading them', () => {
  for (const [index, object] of compacted(10).entries()) {
    expect(object).toEqual(widget(index))
    expect(JSON.stringify(object)).toBe(JSON.stringify(widget(index)))
    expect({ ...object }).toStrictEqual(widget(index))
    expect(structuredClone(object)).toStrictEqual(widget(index))
    expect(inspect(object, { depth: 9 })).toBe(inspect(widget(index), { depth: 9 }))
    expect(Object.keys(object)).toEqual(['kind', 'metadata', 'spec', 'status'])
  }
})

test('reads return the same value for as long as somebody has it', () => {
  const objects = compacted(10, new ObjectCompactor(TINY))
  const first = objects.map(({ spec, status }) => ({ spec, status }))
  for (const [index, object] of objects.entries()) {
    expect(object.spec).toBe(first[index]?.spec)
    expect(object.status).toBe(first[index]?.status)
  }
})

test('objects of one template share their equal parts', () => {
  const [, , third, fourth] = compacted(4)
  expect(third?.spec.template).toBe(fourth?.spec.template)
  expect(third?.metadata.labels).toBe(fourth?.metadata.labels)
})

test('what repeats only from version to version of one object is not kept for others', () => {
  const compactor = new ObjectCompactor()
  for (let version = 0; version < 5; version++) compactor.compact(widget(1))
  expect(compactor.keptParts).toBe(0)
})

test('does not touch frozen values', () => {
  const spec = Object.freeze({ text: 'a string that is long enough' })
  expect(new ObjectCompactor().compact({ kind: 'Widget', spec }).spec).toBe(spec)
  const object = Object.freeze({ kind: 'Widget', spec })
  expect(new ObjectCompactor().compact(object)).toBe(object)
})

test('keys that could change a prototype stay keys', () => {
  const hostile = `{"__proto__":{"isAdmin":true},"long":"${'x'.repeat(300)}"}`
  const text = `{"kind":"Widget","metadata":{"uid":"1"},"spec":${hostile},"status":{"a":"${'y'.repeat(300)}"},"__proto__":{"b":1}}`
  const compactor = new ObjectCompactor()
  for (let round = 0; round < 4; round++) {
    const object = compactor.compact(JSON.parse(text.replace('"1"', `"${round}"`)))
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype)
    expect(Object.getPrototypeOf(object.spec)).toBe(Object.prototype)
    expect(JSON.stringify(object)).toBe(text.replace('"1"', `"${round}"`))
    expect(isFrozenDeep(object)).toBe(true)
  }
})

test.each([
  ['a separator', { text: `${'x'.repeat(300)}\0` }],
  ['a separator in a key', { [`${'x'.repeat(300)}\0`]: 1 }],
  ['minus zero', { text: 'x'.repeat(300), zero: -0 }],
  ['undefined', { text: 'x'.repeat(300), nothing: undefined }],
  ['an object of a class', { text: 'x'.repeat(300), at: new Date(0) }],
  ['characters beyond Latin-1', { text: '漢字'.repeat(300), lone: '\ud800' }],
])('keeps what JSON or the compact form cannot represent: %s', (_, spec) => {
  const compactor = new ObjectCompactor()
  for (let index = 0; index < 4; index++) {
    const object = compactor.compact({ metadata: { uid: `${index}` }, spec: structuredClone(spec) })
    expect(object.spec).toStrictEqual(spec)
  }
})

test('a value of ten thousand levels is frozen like any other', () => {
  const text = `${'{"a":['.repeat(5_000)}${']}'.repeat(5_000)}`
  const object = new ObjectCompactor().compact({ kind: 'Widget', spec: JSON.parse(text) })
  let levels = 0
  for (let at: unknown = object.spec; typeof at === 'object' && at !== null; at = Object.values(at)[0]) {
    expect(Object.isFrozen(at)).toBe(true)
    levels++
  }
  expect(levels).toBe(10_000)
})

test('any objects come back as they were, in any order and however little is remembered', () => {
  const object = fc.record(
    {
      kind: fc.constantFrom('A', 'B'),
      metadata: fc.record(
        {
          uid: fc.constantFrom('1', '2', '3'),
          annotations: fc.dictionary(fc.string(), fc.string({ maxLength: 100 })),
          ownerReferences: fc.array(fc.record({ uid: fc.constantFrom('4', '5') }), { maxLength: 1 }),
        },
        { noNullPrototype: true },
      ),
      // Small fields are not packed.
      spec: fc.record(
        { value: fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }), padding: fc.constant('x'.repeat(300)) },
        { noNullPrototype: true },
      ),
      status: fc.jsonValue({ maxDepth: 4 }),
    },
    { requiredKeys: ['kind'], noNullPrototype: true },
  )
  const versions = fc.array(object, { maxLength: 8 }).chain((objects) =>
    // The same ones again and again: what repeats takes other ways than what is new.
    fc.array(fc.constantFrom(...objects, { kind: 'A' }), { maxLength: 30 }),
  )
  fc.assert(
    fc.property(versions, fc.boolean(), (objects, isTiny) => {
      const compactor = new ObjectCompactor(isTiny ? TINY : COMPACTION_LIMITS)
      const kept = objects.map((original) => compactor.compact(structuredClone(original)))
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
  const compactor = new ObjectCompactor({ ...COMPACTION_LIMITS, maxParts: 16 })
  for (let index = 0; index < 1_000; index++) {
    const spec = { list: Array.from({ length: 20 }, (_, item) => `item ${item} of ${index >> 1}`) }
    compactor.compact({ metadata: { uid: `${index}` }, spec })
  }
  expect(compactor.keptParts).toBeLessThanOrEqual(32)
})
