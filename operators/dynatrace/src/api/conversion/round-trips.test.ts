import { type AnyCrd, type Convert, objectSchema, validate } from '@reeve/crd'
import type { KubeObject } from '@reeve/kube'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DynaKubeCrd } from '../dynakube/dynakube-crd.ts'
import { EdgeConnectCrd } from '../edgeconnect/edgeconnect-crd.ts'
import { arbitraryObject } from '../testing/arbitrary-object.ts'
import { meaning } from '../testing/same-meaning.ts'
import { convertDynaKube, convertEdgeConnect } from './convert.ts'

const RUNS = { numRuns: 60 }

/** Conditions are distinguished by type in the stored version only; older lists with duplicates cannot be stored. */
function withDistinctConditions<T extends object>(object: T): T {
  const { status } = object as { readonly status?: { readonly conditions?: readonly { readonly type: string }[] } }
  if (!status?.conditions) return object
  const byType = new Map(status.conditions.map((condition) => [condition.type, condition]))
  return { ...object, status: { ...status, conditions: [...byType.values()] } }
}

function objects(crd: AnyCrd, version: string): fc.Arbitrary<KubeObject> {
  const schema = objectSchema(crd, version)
  // The arbitrary follows the schema, which describes a Kubernetes object.
  return arbitraryObject(schema, `${crd.group}/${version}`, crd.kind).map(
    withDistinctConditions,
  ) as fc.Arbitrary<KubeObject>
}

const problems = (crd: AnyCrd, object: KubeObject) =>
  validate(objectSchema(crd, object.apiVersion.split('/')[1] ?? ''), object)

describe.each(['v1beta3', 'v1beta4', 'v1beta5'])('a random DynaKube %s', (version) => {
  it('survives the way to v1beta6 and back', () => {
    fc.assert(
      fc.property(objects(DynaKubeCrd, version), (object) => {
        const hub = convertDynaKube(object, 'v1beta6')
        expect(problems(DynaKubeCrd, hub)).toEqual([])
        expect(meaning(convertDynaKube(hub, version))).toEqual(meaning(object))
      }),
      RUNS,
    )
  })

  it('is admitted by the schema of every other version', () => {
    fc.assert(
      fc.property(objects(DynaKubeCrd, version), (object) => {
        for (const other of Object.keys(DynaKubeCrd.versions)) {
          expect(problems(DynaKubeCrd, convertDynaKube(object, other))).toEqual([])
        }
      }),
      RUNS,
    )
  })

  it('is left unchanged by its conversion', () => {
    fc.assert(
      fc.property(objects(DynaKubeCrd, version), (object) => {
        const before = structuredClone(object)
        convertDynaKube(object, 'v1beta6')
        expect(object).toEqual(before)
      }),
      { numRuns: 20 },
    )
  })
})

describe('a random DynaKube v1beta6', () => {
  it.each(['v1beta3', 'v1beta4', 'v1beta5'])(
    'loses by way of %s only what that version cannot say, and nothing by a second trip',
    (version) => {
      fc.assert(
        fc.property(objects(DynaKubeCrd, 'v1beta6'), (object) => {
          const there = convertDynaKube(object, version)
          expect(problems(DynaKubeCrd, there)).toEqual([])
          const once = convertDynaKube(there, 'v1beta6')
          expect(problems(DynaKubeCrd, once)).toEqual([])
          expect(convertDynaKube(convertDynaKube(once, version), 'v1beta6')).toEqual(once)
        }),
        RUNS,
      )
    },
  )
})

describe('a random EdgeConnect', () => {
  const roundTrip = (convert: Convert, object: KubeObject, by: string, home: string) =>
    convert(convert(object, by), home)

  it('v1alpha1 survives the way to v1alpha2 and back', () => {
    fc.assert(
      fc.property(objects(EdgeConnectCrd, 'v1alpha1'), (object) => {
        const { spec } = object as KubeObject & { readonly spec: Record<string, unknown> }
        const { hostRestrictions, ...rest } = spec
        const expected = {
          ...object,
          spec: {
            autoUpdate: true,
            serviceAccountName: 'dynatrace-edgeconnect',
            ...rest,
            ...(hostRestrictions ? { hostRestrictions } : {}),
          },
        }
        expect(problems(EdgeConnectCrd, convertEdgeConnect(object, 'v1alpha2'))).toEqual([])
        expect(meaning(roundTrip(convertEdgeConnect, object, 'v1alpha2', 'v1alpha1'))).toEqual(meaning(expected))
      }),
      RUNS,
    )
  })

  it('v1alpha2 loses nothing but the difference between absent and default', () => {
    fc.assert(
      fc.property(objects(EdgeConnectCrd, 'v1alpha2'), (object) => {
        const { spec } = object as KubeObject & { readonly spec: Record<string, unknown> }
        const { hostRestrictions, ...rest } = spec
        const isKept = Array.isArray(hostRestrictions) && hostRestrictions.join(',') !== ''
        const expected = {
          ...object,
          spec: {
            autoUpdate: true,
            serviceAccountName: 'dynatrace-edgeconnect',
            ...rest,
            ...(isKept ? { hostRestrictions } : {}),
          },
        }
        expect(meaning(roundTrip(convertEdgeConnect, object, 'v1alpha1', 'v1alpha2'))).toEqual(meaning(expected))
      }),
      RUNS,
    )
  })
})
