import { describe, expect, it } from 'vitest'
import { convertDynaKube } from '../conversion/convert.ts'
import { DynaKubeCrd } from '../dynakube/dynakube-crd.ts'
import { reviewBySchema } from '../schema-review.ts'
import { quantityProblems } from './quantity-problems.ts'

const dynakube = (version: string, memory: unknown) => ({
  apiVersion: `dynatrace.com/${version}`,
  kind: 'DynaKube',
  metadata: { namespace: 'dynatrace', name: 'dk' },
  spec: { apiUrl: 'https://x/api', activeGate: { resources: { limits: { memory } } } },
})

describe('an object with a malformed quantity', () => {
  it.each(['v1beta3', 'v1beta4', 'v1beta5'])('is not converted from %s', (version) => {
    expect(() => convertDynaKube(dynakube(version, '1e1.5'), 'v1beta6')).toThrow(
      'DynaKube dynatrace/dk: spec.activeGate.resources.limits.memory: "1e1.5" is not a valid quantity',
    )
    expect(() => convertDynaKube(dynakube(version, '1.5Gi'), 'v1beta6')).not.toThrow()
  })

  it('is not converted from the stored version', () => {
    expect(() => convertDynaKube(dynakube('v1beta6', ''), 'v1beta5')).toThrow('is not a valid quantity')
  })

  it('is rejected even if the pattern of the schema admits it', () => {
    const { problems } = reviewBySchema(DynaKubeCrd, 'v1beta6', dynakube('v1beta6', '1e1.5'))
    expect(problems).toEqual([
      {
        field: 'spec.activeGate.resources.limits.memory',
        message: '"1e1.5" is not a valid quantity; write it like 500m, 1Gi or 1e3',
      },
    ])
  })
})

describe('malformed quantities', () => {
  const quantity = { 'x-kubernetes-int-or-string': true, pattern: '.*' } as const
  const schema = {
    type: 'object',
    properties: {
      text: { type: 'string' },
      // A property of the name of another kind wins over additionalProperties.
      limits: { type: 'object', properties: { note: { type: 'string' } }, additionalProperties: quantity },
      list: { type: 'array', items: { type: 'object', properties: { size: quantity } } },
    },
  } as const

  it('are listed wherever the schema has quantities, in the order of the object', () => {
    const value = {
      text: 'x',
      list: [{ size: 'a' }, { size: '1Gi' }, { size: 'b', other: 'c' }],
      limits: { memory: 'd', note: 'no quantity', cpu: 1 },
      unknown: { size: 'e' },
    }
    expect(quantityProblems(schema, value).map(({ field }) => field)).toEqual([
      'list[0].size',
      'list[2].size',
      'limits.memory',
    ])
    expect(quantityProblems(schema.properties.limits, value.limits, 'spec.limits').map(({ field }) => field)).toEqual([
      'spec.limits.memory',
    ])
  })

  it('are not looked for in values of another type, nor in what objects inherit', () => {
    for (const value of [
      null,
      undefined,
      'text',
      1,
      [],
      [{ list: 1 }],
      { list: {}, limits: [1, 'a'] },
      { limits: null },
    ]) {
      expect(quantityProblems(schema, value)).toEqual([])
    }
    const odd = { type: 'object', properties: { constructor: quantity, toString: quantity } } as const
    expect(quantityProblems(odd, {})).toEqual([])
    expect(quantityProblems(odd, JSON.parse('{"constructor":"x"}'))).toHaveLength(1)
  })
})
