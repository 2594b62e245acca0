import { objectSchema } from '@reeve/crd'
import type { KubeObject } from '@reeve/kube'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DynaKubeCrd } from '../dynakube/dynakube-crd.ts'
import { ONE_AGENT_MODES } from '../dynakube/one-agent-facts.ts'
import { arbitraryObject } from '../testing/arbitrary-object.ts'
import { lookups } from '../testing/lookups.ts'
import { validateDynaKube } from '../validation/validate.ts'
import { convertDynaKube } from './convert.ts'

type Json = Record<string, unknown>

/** Any DynaKube of a version, with every field whose conversion keeps more than it must. */
function dynakubes(version: string): fc.Arbitrary<KubeObject> {
  const any = arbitraryObject(objectSchema(DynaKubeCrd, version), `dynatrace.com/${version}`, 'DynaKube')
  const mode = fc.constantFrom(...ONE_AGENT_MODES)
  return fc
    .record({ any, mode, useEphemeralVolume: fc.boolean(), hasClaim: fc.boolean(), seconds: fc.integer() })
    .map(({ any: object, mode: chosen, useEphemeralVolume, hasClaim, seconds }) => {
      const spec = object.spec as Json
      const claim = version === 'v1beta4' ? 'persistentVolumeClaim' : 'volumeClaimTemplate'
      const activeGate = {
        ...(spec.activeGate as Json),
        useEphemeralVolume,
        terminationGracePeriodSeconds: seconds,
        ...(hasClaim && { [claim]: {} }),
      }
      const oneAgent = { [chosen]: chosen === 'applicationMonitoring' ? {} : { storageHostPath: 'relative/../path' } }
      // The arbitrary follows the schema, which describes a Kubernetes object.
      return { ...object, spec: { ...spec, activeGate, oneAgent } } as KubeObject
    })
}

/** The object as an operator sees it whose conversion drops these fields. */
function withoutSurvivingFields(object: KubeObject): KubeObject {
  const copy = structuredClone(object) as KubeObject & { readonly spec: { activeGate?: Json; oneAgent?: Json } }
  delete copy.spec.activeGate?.useEphemeralVolume
  delete copy.spec.activeGate?.terminationGracePeriodSeconds
  for (const mode of ONE_AGENT_MODES) delete (copy.spec.oneAgent?.[mode] as Json | undefined)?.storageHostPath
  return copy
}

describe.each(['v1beta4', 'v1beta5'])('fields of %s that conversion keeps', (version) => {
  it('never make admission reject an object that is accepted without them', async () => {
    await fc.assert(
      fc.asyncProperty(dynakubes(version), async (object) => {
        const { errors } = await validateDynaKube(object, lookups())
        expect(errors).toEqual((await validateDynaKube(withoutSurvivingFields(object), lookups())).errors)
      }),
      { numRuns: 150 },
    )
  })

  it('leave an object that can be written again in the stored version', async () => {
    await fc.assert(
      fc.asyncProperty(dynakubes(version), async (object) => {
        const { errors } = await validateDynaKube(object, lookups())
        expect((await validateDynaKube(convertDynaKube(object, 'v1beta6'), lookups())).errors).toEqual(errors)
      }),
      { numRuns: 50 },
    )
  })

  it('are kept, unless a claim makes the ephemeral volume meaningless', () => {
    const claim = version === 'v1beta4' ? 'persistentVolumeClaim' : 'volumeClaimTemplate'
    const activeGate = { useEphemeralVolume: true, terminationGracePeriodSeconds: 3 }
    const object = (more: object) => ({
      apiVersion: `dynatrace.com/${version}`,
      kind: 'DynaKube',
      metadata: { namespace: 'dynatrace', name: 'dk' },
      spec: { apiUrl: 'https://x/api', activeGate: { ...activeGate, ...more } },
    })
    const converted = (more: object) => (convertDynaKube(object(more), 'v1beta6') as KubeObject & { spec: Json }).spec
    expect(converted({}).activeGate).toEqual(activeGate)
    expect(converted({ [claim]: {} }).activeGate).toEqual({ terminationGracePeriodSeconds: 3, volumeClaimTemplate: {} })
  })
})
