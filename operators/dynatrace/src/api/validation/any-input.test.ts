import { type AnyCrd, objectSchema } from '@reeve/crd'
import type { KubeObject } from '@reeve/kube'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DynaKubeCrd } from '../dynakube/dynakube-crd.ts'
import { EdgeConnectCrd } from '../edgeconnect/edgeconnect-crd.ts'
import { arbitraryObject } from '../testing/arbitrary-object.ts'
import { lookups } from '../testing/lookups.ts'
import { validateDynaKube, validateEdgeConnect } from './validate.ts'

/** Findings name a field, a flag, or a part of the object by its own name. */
const NAMES_A_FIELD = /spec\.|metadata\.name|the flag|namespaceSelector|nodeSelector|every EdgeConnect/

const cases = [DynaKubeCrd, EdgeConnectCrd].flatMap((crd: AnyCrd) =>
  Object.keys(crd.versions).map((version) => [crd.kind, version, crd] as const),
)

describe('any object that the schema admits', () => {
  it.each(cases)('as %s %s gets a verdict that names fields', async (kind, version, crd) => {
    const objects = arbitraryObject(objectSchema(crd, version), `${crd.group}/${version}`, kind)
    const judge = kind === 'DynaKube' ? validateDynaKube : validateEdgeConnect
    await fc.assert(
      fc.asyncProperty(objects, async (object) => {
        // The arbitrary follows the schema, which describes a Kubernetes object.
        const verdict = await judge(object as KubeObject, lookups({ namespaces: { shop: {} } }))
        for (const finding of verdict.errors) expect(finding).toMatch(NAMES_A_FIELD)
      }),
      { numRuns: 100 },
    )
  })
})
