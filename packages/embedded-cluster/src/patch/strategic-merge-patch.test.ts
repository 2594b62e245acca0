import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { loadBuiltinSchemas } from '../schema/definitions.ts'
import { dropNulls } from '../schema/drop-nulls.ts'
import { prune } from '../schema/prune.ts'
import { applyStrategicMergePatch } from './strategic-merge-patch.ts'

interface Golden {
  document: JsonObject
  cases: { patch: JsonObject; code?: number; message?: string; result?: JsonObject }[]
}

// Patches of one Deployment and their results on a real API server.
const golden: Golden = JSON.parse(readFileSync(new URL('golden/strategic-merge-patch.json', import.meta.url), 'utf8'))
const schema = loadBuiltinSchemas()({ group: 'apps', version: 'v1', kind: 'Deployment' })

/** `actual` reduced to the fields of `shape`: the server adds defaults to new values. */
function cutTo(shape: JsonValue | undefined, actual: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(shape) && Array.isArray(actual)) {
    return actual.map((item, index) => cutTo(shape[index], item) ?? null)
  }
  if (!isJsonObject(shape) || !isJsonObject(actual)) return actual
  return Object.fromEntries(Object.keys(shape).map((name) => [name, cutTo(shape[name], actual[name])]))
}

/** The server's encoding omits empty lists, maps and strings. */
function withoutEmpty(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((item) => withoutEmpty(item) ?? null)
  if (!isJsonObject(value)) return value
  const fields = Object.entries(value).map(([name, field]) => [name, withoutEmpty(field)] as const)
  const isEmpty = (field: JsonValue | undefined) =>
    field === undefined ||
    field === '' ||
    (typeof field === 'object' && field !== null && Object.keys(field).length === 0)
  return Object.fromEntries(fields.filter(([, field]) => !isEmpty(field)))
}

describe('strategic merge patch as on a real API server', () => {
  for (const [index, { patch, code, message, result }] of golden.cases.entries()) {
    it(`${code === undefined ? 'applies' : 'rejects'} patch ${index}: ${JSON.stringify(patch).slice(0, 80)}`, () => {
      if (code !== undefined) {
        expect(() => applyStrategicMergePatch(schema, golden.document, patch)).toThrow(
          expect.objectContaining({ code, message }),
        )
        return
      }
      const patched = applyStrategicMergePatch(schema, golden.document, patch)
      const decoded = prune(schema, dropNulls(schema, patched)).object
      const relevant = withoutEmpty(cutTo(result, decoded))
      expect(relevant).toEqual(cutTo(relevant, withoutEmpty(result)))
    })
  }
})

describe('applyStrategicMergePatch', () => {
  it('does nothing for an empty patch', () => {
    expect(applyStrategicMergePatch(schema, golden.document, {})).toBe(golden.document)
  })

  it('does nothing when the document patches itself, as long as merge keys are unique', () => {
    const containers = [{ name: 'x', image: 'x', ports: [{ containerPort: 53 }, { containerPort: 54 }] }]
    const document = { metadata: { finalizers: ['a/a'] }, spec: { template: { spec: { containers } } } }
    expect(applyStrategicMergePatch(schema, document, structuredClone(document))).toEqual(document)
  })

  it('merges with the first of two ports that differ only in protocol, as Kubernetes does', () => {
    const ports = [
      { containerPort: 53, protocol: 'TCP' },
      { containerPort: 53, protocol: 'UDP' },
    ]
    const spec = (list: JsonObject[]) => ({
      spec: { template: { spec: { containers: [{ name: 'x', ports: list }] } } },
    })
    const result = applyStrategicMergePatch(schema, spec(ports), spec([{ containerPort: 53, protocol: 'UDP' }]))
    expect(result).toEqual(
      spec([
        { containerPort: 53, protocol: 'UDP' },
        { containerPort: 53, protocol: 'UDP' },
      ]),
    )
  })

  it('is idempotent for patches without deletions', () => {
    const name = fc.constantFrom('x', 'y', 'z')
    const env = fc.uniqueArray(fc.record({ name: fc.constantFrom('A', 'B', 'C'), value: fc.constantFrom('1', '2') }), {
      selector: (item) => item.name,
    })
    const containers = fc.uniqueArray(fc.record({ name, image: fc.constant('i'), env }), {
      selector: (item) => item.name,
    })
    fc.assert(
      fc.property(containers, fc.uniqueArray(fc.constantFrom('a/a', 'd/d')), (list, finalizers) => {
        const patch = { metadata: { finalizers }, spec: { template: { spec: { containers: list } } } }
        const once = applyStrategicMergePatch(schema, golden.document, patch)
        expect(applyStrategicMergePatch(schema, once, patch)).toEqual(once)
      }),
    )
  })

  it('replaces lists and merges objects where the schema has no directive', () => {
    const document = { free: { a: 1, list: [1, 2] } }
    expect(applyStrategicMergePatch(undefined, document, { free: { list: [3], b: 2 } })).toEqual({
      free: { a: 1, b: 2, list: [3] },
    })
  })

  it('rejects a patch that is not an object', () => {
    expect(() => applyStrategicMergePatch(schema, {}, [])).toThrow(expect.objectContaining({ code: 400 }))
  })

  it('does not modify its inputs', () => {
    const frozen = Object.freeze({
      ...golden.document,
      metadata: Object.freeze({ finalizers: Object.freeze(['a/a']) }),
    })
    const patch = Object.freeze({ metadata: Object.freeze({ finalizers: Object.freeze(['b/b']) }) })
    const result = applyStrategicMergePatch(schema, frozen as unknown as JsonObject, patch as unknown as JsonObject)
    expect(result.metadata).toEqual({ finalizers: ['b/b', 'a/a'] })
  })
})
