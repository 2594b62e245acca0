/** Which fields of a declared object count as invisible: those that show for no value of the others. */
import { defineCrd, type ObjectOf, oneOf } from '@reeve/crd'
import { ConfigMaps } from '@reeve/kube'
import { defineOperator, desired } from '@reeve/runtime'
import { type TSchema, Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { Explorer, type OperatorUnderTest, type PlainObject, type Scenario } from '../src/index.ts'

const labels = { 'app.kubernetes.io/managed-by': 'cards' }

/** An operator that makes a ConfigMap of what `data` returns, and none of `undefined`. */
function cards<Spec extends TSchema>(
  spec: Spec,
  data: (spec: ObjectOf<{ spec: Spec }>['spec']) => Readonly<Record<string, unknown>> | undefined,
  more: Partial<OperatorUnderTest> = {},
): OperatorUnderTest {
  const CardCrd = defineCrd({
    group: 'example.com',
    kind: 'Card',
    plural: 'cards',
    scope: 'Namespaced',
    versions: { v1: { spec } },
  })
  const operator = defineOperator({
    name: 'cards',
    controllers: [
      {
        for: CardCrd.resource('v1'),
        owns: [{ resource: ConfigMaps, labelSelector: 'app.kubernetes.io/managed-by=cards' }],
        render: ({ metadata: { name, namespace }, spec: declared }) => {
          const content = data(declared)
          if (content === undefined) return []
          return [
            desired(ConfigMaps, { metadata: { name, namespace, labels }, data: { all: JSON.stringify(content) } }),
          ]
        },
      },
    ],
  })
  return {
    name: 'cards',
    crds: [CardCrd],
    start: ({ clock, random, logger, metrics }, client) =>
      operator.create({ client, clock, random, logger, metrics }).manager,
    ...more,
  }
}

const nothing: Scenario = { name: 'nothing', steps: [{ name: 'nothing', act: async () => undefined }] }

/** The problems of each field of an operator whose example is `spec`. */
async function problemsOf(operator: OperatorUnderTest, spec?: PlainObject): Promise<readonly string[]> {
  const tested = { ...operator, ...(spec && { exampleSpecs: [spec] }) }
  const explorer = new Explorer({ operator: tested, scenario: nothing }, { samples: 2 })
  const found: string[] = []
  for (const [point, { label, shape }] of (await explorer.points('declared-states')).entries()) {
    // The other points are walks through several states, in which no single field is judged.
    if (!shape.fine.startsWith('spec.')) continue
    const { problems } = await explorer.run('declared-states', point)
    found.push(...problems.map(({ message }) => `${label}: ${message}`))
  }
  return found
}

const Hidden = Type.Object({ text: Type.String({ minLength: 1 }), isPublic: Type.Boolean({ default: true }) })

describe('a field that shows for some value of the others is visible', () => {
  it('a field behind a switch that is off in the example is visible', async () => {
    const operator = cards(Hidden, ({ text, isPublic }) => (isPublic ? { text } : undefined))
    expect(await problemsOf(operator, { text: 'hi', isPublic: false })).toEqual([])
  })

  it('a field behind one of many choices is visible', async () => {
    const kinds = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J'] as const
    const spec = Type.Object({ kind: oneOf(kinds), port: Type.Optional(Type.Integer({ minimum: 1 })) })
    const operator = cards(spec, ({ kind, port }) => ({ kind, ...(kind === 'H' && { port }) }))
    expect(await problemsOf(operator, { kind: 'A', port: 4 })).toEqual([])
  })

  it('a field behind two switches, one of them next to it, is visible', async () => {
    const spec = Type.Object({
      isOn: Type.Boolean(),
      tls: Type.Object({ isOn: Type.Boolean(), name: Type.String({ minLength: 1 }) }),
    })
    const operator = cards(spec, ({ isOn, tls }) => ({
      isOn: String(isOn),
      tls: String(tls.isOn),
      ...(isOn && tls.isOn && { name: tls.name }),
    }))
    expect(await problemsOf(operator, { isOn: false, tls: { isOn: false, name: 'a' } })).toEqual([])
  })

  it('a field that shows when another one, such as an override, is absent is visible', async () => {
    const text = Type.Optional(Type.String({ minLength: 1 }))
    const operator = cards(Type.Object({ text, override: text }), ({ text: own, override }) => ({
      text: override ?? own,
    }))
    expect(await problemsOf(operator, { text: 'hi', override: 'ho' })).toEqual([])
  })

  it('a field that shows in another example is visible', async () => {
    const spec = Type.Object({ kind: Type.String({ pattern: '^(a|rare)$' }), text: Type.String({ minLength: 1 }) })
    const operator = cards(spec, ({ kind, text }) => (kind === 'rare' ? { kind, text } : { kind }))
    const exampleSpecs = [
      { kind: 'a', text: 'hi' },
      { kind: 'rare', text: 'hi' },
    ]
    expect(await problemsOf({ ...operator, exampleSpecs })).toEqual([])
  })

  it('a field whose value in the example is the default of the operator is visible', async () => {
    const operator = cards(Type.Object({ copies: Type.Optional(Type.Integer({ minimum: 1 })) }), ({ copies = 2 }) => ({
      copies,
    }))
    expect(await problemsOf(operator, { copies: 2 })).toEqual([])
  })

  it('a 0 behind a switch is not taken for another number where no number shows', async () => {
    const copies = Type.Optional(Type.Integer({ minimum: 0 }))
    const spec = Type.Object({ isOn: Type.Boolean(), copies })
    const operator = cards(spec, ({ isOn, copies: number = 1 }) => (isOn ? { number } : undefined))
    expect(await problemsOf(operator, { isOn: false, copies: 3 })).toEqual([])
  })
})

describe('a field that shows for no value of the others is invisible', () => {
  it('an invisible field is reported once, with what to do about it', async () => {
    // All combinations of so few values are tried within a few runs.
    const spec = Type.Object({ text: oneOf(['hi', 'ho']), hint: Type.Optional(oneOf(['loud', 'soft'])) })
    const operator = cards(spec, ({ text }) => ({ text }))
    expect(await problemsOf(operator, { text: 'hi', hint: 'loud' })).toEqual([
      expect.stringMatching(/^spec.hint is removed: spec.hint shows in no object .*inertFields/),
      expect.stringMatching(/^spec.hint is changed: spec.hint shows in no object .*inertFields/),
    ])
    expect(await problemsOf({ ...operator, inertFields: ['spec.hint'] }, { text: 'hi', hint: 'loud' })).toEqual([])
  })

  it('a field of an optional object, which other states do not have, is invisible', async () => {
    const tls = Type.Optional(
      Type.Object({ isOn: Type.Optional(Type.Boolean()), name: Type.Optional(oneOf(['a', 'b'])) }),
    )
    const operator = cards(Type.Object({ tls }), ({ tls: declared }) => ({ isOn: declared?.isOn }))
    expect(await problemsOf(operator, { tls: { isOn: true, name: 'a' } })).toEqual([
      expect.stringMatching(/^spec.tls.name is removed: spec.tls.name shows in no object/),
      expect.stringMatching(/^spec.tls.name is changed: spec.tls.name shows in no object/),
    ])
  })

  it('a field beside a switch is invisible', async () => {
    const operator = cards(Hidden, ({ isPublic }) => (isPublic ? {} : undefined))
    expect(await problemsOf(operator, { text: 'hi', isPublic: false })).toEqual([
      expect.stringContaining('spec.text shows in no object'),
    ])
  })

  it('a 0 that is taken for another number behind a switch is reported', async () => {
    const copies = Type.Optional(Type.Integer({ minimum: 0 }))
    const spec = Type.Object({ isOn: Type.Boolean(), copies })
    const operator = cards(spec, ({ isOn, copies: number }) => (isOn ? { number: number || 1 } : undefined))
    expect(await problemsOf(operator, { isOn: false, copies: 3 })).toEqual([
      expect.stringContaining('spec.copies: 0 has the same effect as 1 and as leaving it out'),
    ])
  })
})
