import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../json.ts'
import { applyMergePatch } from '../patch/merge-patch.ts'
import { applyDefaults } from '../schema/default.ts'
import type { Schema } from '../schema/schema.ts'
import { validateSchema } from '../schema/validate.ts'
import type { FieldError } from '../status-error.ts'
import { compileRules } from './compile-rules.ts'
import { evaluateRules, rulesNotChecked } from './evaluate-rules.ts'

type Recorded = [reason: string, field: string, message: string]

interface RuleCase {
  label: string
  spec: Schema
  errors?: Recorded[]
  objects: { spec: JsonObject; errors: Recorded[] }[]
  updates: { old: JsonObject; patch: JsonObject; errors: Recorded[] }[]
}

interface Expressions {
  properties: Record<string, Schema>
  spec: JsonObject
  rules: string[]
  violations: string[]
  refused: string[]
}

function read<T>(file: string): T {
  return JSON.parse(readFileSync(new URL(`golden/${file}`, import.meta.url), 'utf8'))
}

function flat(errors: readonly FieldError[]): Recorded[] {
  return errors.map(({ reason, field, message }): Recorded => [reason, field, message]).sort(byText)
}

function byText(a: Recorded, b: Recorded): number {
  return a.join() < b.join() ? -1 : 1
}

/** Validates an object completely, schema first. */
function check(schema: Schema, object: JsonObject, old?: JsonObject): FieldError[] {
  const { rules } = compileRules(schema)
  const complete = applyDefaults(schema, object)
  const errors = validateSchema(schema, complete, { old })
  const notChecked = rulesNotChecked(errors)
  if (notChecked !== undefined) return [...errors, notChecked]
  return rules === undefined ? errors : [...errors, ...evaluateRules(rules, complete, old)]
}

describe('rules as on a real API server', () => {
  for (const { label, spec, errors = [], objects, updates } of read<RuleCase[]>('rules.json')) {
    const schema: Schema = { type: 'object', properties: { spec } }
    it(`${errors.length === 0 ? 'accepts' : 'rejects'} the rule: ${label}`, () => {
      expect(flat(compileRules(schema).errors)).toEqual([...errors].sort(byText))
    })
    for (const { spec: value, errors: expected } of objects) {
      it(`checks ${JSON.stringify(value)} by it: ${label}`, () => {
        expect(flat(check(schema, { spec: value }))).toEqual([...expected].sort(byText))
      })
    }
    for (const { old, patch, errors: expected } of updates) {
      it(`checks the update of ${JSON.stringify(old)} by ${JSON.stringify(patch)}: ${label}`, () => {
        const stored = { spec: old }
        const updated = applyMergePatch(stored, { spec: patch })
        expect(flat(check(schema, updated, stored))).toEqual([...expected].sort(byText))
      })
    }
  }
})

describe('expressions as on a real API server', () => {
  const { properties, spec, rules, violations, refused } = read<Expressions>('expressions.json')
  const withRule = (rule: string): Schema => ({
    type: 'object',
    properties: { spec: { type: 'object', properties, 'x-kubernetes-validations': [{ rule }] } },
  })

  for (const rule of rules) {
    const violation = violations.find((message) => message.endsWith(`rule: ${rule}`))
    it(`${violation === undefined ? 'holds' : 'does not hold'}: ${rule}`, () => {
      const { rules: compiled, errors } = compileRules(withRule(rule))
      expect(errors).toEqual([])
      const found = compiled === undefined ? [] : evaluateRules(compiled, { spec }, undefined)
      expect(found.map(({ message }) => message)).toEqual(violation === undefined ? [] : [violation])
    })
  }

  for (const rule of refused) {
    it(`is rejected: ${rule}`, () => {
      expect(compileRules(withRule(rule)).errors).toHaveLength(1)
    })
  }
})

describe('compileRules', () => {
  const object = (rule: string, properties: Record<string, Schema> = {}): Schema => ({
    type: 'object',
    properties,
    'x-kubernetes-validations': [{ rule }],
  })

  it('finds nothing to do without rules', () => {
    expect(compileRules({ type: 'object', properties: { a: { type: 'string' } } })).toEqual({
      rules: undefined,
      errors: [],
    })
  })

  it('reports line and column of a syntax error', () => {
    const [error] = compileRules(object('self.a >', { a: { type: 'integer' } })).errors
    expect(error?.field).toBe('spec.validation.openAPIV3Schema.x-kubernetes-validations[0].rule')
    expect(error?.message).toMatch(
      /compilation failed: ERROR: <input>:1:9: Syntax error: .*\n \| self\.a >\n \| \.{8}\^$/s,
    )
  })

  it('rejects a pattern that RE2 does not support, when the rule is written and not when it is evaluated', () => {
    const [error] = compileRules(object('self.a.matches("(?=x)")', { a: { type: 'string' } })).errors
    expect(error?.message).toContain('invalid or unsupported Perl syntax')
  })

  it('detects unknown fields inside loops and optional chains', () => {
    const items: Schema = { type: 'object', properties: { k: { type: 'string' } } }
    const list: Schema = { type: 'array', items }
    for (const rule of [
      'self.l.all(x, x.zz == "")',
      'self.?l[?0].?zz.hasValue()',
      'self.l.filter(x, x.k == "").map(y, y.zz).size() > 0',
    ]) {
      expect(compileRules(object(rule, { l: list })).errors[0]?.message).toContain("undefined field 'zz'")
    }
  })

  it('exposes the name and kind of the object to rules at the root, and no other metadata', () => {
    const named = compileRules(object('self.metadata.name.startsWith("a") && self.kind == "Thing"'))
    expect(named.errors).toEqual([])
    const { rules } = named
    const violations = rules && evaluateRules(rules, { kind: 'Thing', metadata: { name: 'b' } }, undefined)
    expect(violations).toMatchObject([{ field: '', message: expect.stringContaining('failed rule') }])
    expect(compileRules(object('self.metadata.labels.size() > 0')).errors[0]?.message).toContain(
      "undefined field 'labels'",
    )
  })

  it('hides unknown fields that are only preserved', () => {
    const free: Schema = {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { a: { type: 'string' } },
    }
    expect(compileRules(object('self.f.zz == ""', { f: free })).errors[0]?.message).toContain("undefined field 'zz'")
  })
})

describe('evaluateRules', () => {
  const listSchema = (rule: string): Schema => ({
    type: 'object',
    properties: { l: { type: 'array', items: { type: 'integer' } } },
    'x-kubernetes-validations': [{ rule }],
  })

  it('stops a rule that takes too long', () => {
    const { rules } = compileRules(listSchema('self.l.all(x, self.l.all(y, self.l.all(z, x + y + z >= 0)))'))
    const object = { l: Array.from({ length: 300 }, (_, index) => index) }
    expect(rules && evaluateRules(rules, object, undefined)).toMatchObject([
      { message: expect.stringContaining('call cost exceeds limit for rule') },
    ])
  })

  it('does not let || or a quantifier hide that the limit was exceeded', () => {
    const { rules } = compileRules(listSchema('self.l.all(x, self.l.all(y, self.l.all(z, true))) || true'))
    const object = { l: Array.from({ length: 300 }, (_, index) => index) }
    expect(rules && evaluateRules(rules, object, undefined)).toHaveLength(1)
  })

  it('ignores a violation in a part that the update does not change, except for transition rules', () => {
    const { rules } = compileRules(listSchema('self.l.size() > 5'))
    expect(rules && evaluateRules(rules, { l: [1] }, { l: [1] })).toEqual([])
    expect(rules && evaluateRules(rules, { l: [1, 2] }, { l: [1] })).toHaveLength(1)
    const { rules: transition } = compileRules(listSchema('self.l.size() > oldSelf.l.size()'))
    expect(transition && evaluateRules(transition, { l: [1] }, { l: [1] })).toHaveLength(1)
    expect(transition && evaluateRules(transition, { l: [1] }, undefined)).toEqual([])
  })

  it('matches items of keyed lists by key on update', () => {
    const schema: Schema = {
      type: 'object',
      properties: {
        l: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: {
            type: 'object',
            properties: { k: { type: 'string' }, v: { type: 'integer' } },
            'x-kubernetes-validations': [{ rule: 'self.v >= oldSelf.v', fieldPath: '.v' }],
          },
        },
      },
    }
    const { rules } = compileRules(schema)
    const old = {
      l: [
        { k: 'a', v: 5 },
        { k: 'b', v: 5 },
      ],
    }
    const updated = {
      l: [
        { k: 'c', v: 0 },
        { k: 'b', v: 4 },
        { k: 'a', v: 6 },
      ],
    }
    expect(rules && evaluateRules(rules, updated, old)).toMatchObject([{ field: 'l[1].v' }])
  })

  it('falls back to the fixed message when the computed one fails', () => {
    const schema: Schema = {
      type: 'object',
      properties: { m: { type: 'object', additionalProperties: { type: 'string' } } },
      'x-kubernetes-validations': [{ rule: 'false', message: 'fixed', messageExpression: 'self.m["missing"]' }],
    }
    const { rules } = compileRules(schema)
    expect(rules && evaluateRules(rules, { m: {} }, undefined)).toMatchObject([{ message: 'Invalid value: fixed' }])
  })

  it('treats field names such as constructor as plain names', () => {
    const schema: Schema = {
      type: 'object',
      properties: { m: { type: 'object', additionalProperties: { type: 'string' } } },
      'x-kubernetes-validations': [{ rule: '!("constructor" in self.m) && !has(self.m.toString)' }],
    }
    const { rules } = compileRules(schema)
    expect(rules && evaluateRules(rules, { m: {} }, undefined)).toEqual([])
  })

  it('calculates with quantities of any size, of which only those of 64 bits are integers', () => {
    const rule = [
      "quantity('1e100').isGreaterThan(quantity('1Ei'))",
      "quantity('1e100').sub(quantity('1e100')) == quantity('0')",
      "!quantity('1e100').isInteger() && quantity('9223372036854775807').isInteger()",
      "quantity('0e9999').asApproximateFloat() == 0.0",
      "!isQuantity('1e99999999')",
    ].join(' && ')
    const { rules } = compileRules({ type: 'object', 'x-kubernetes-validations': [{ rule }] })
    expect(rules && evaluateRules(rules, {}, undefined)).toEqual([])
  })
})
