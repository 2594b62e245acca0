import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { NamespaceLabels } from '../../../../api/dynakube/namespace-claims.ts'
import { IgnoredNamespacePatterns } from '../../../../api/ignored-namespaces.ts'
import type { DynaKube, DynaKubeSpec } from '../../../../api/latest.ts'
import { dynakube } from '../../../../api/testing/build.ts'
import {
  concernedBy,
  INSTANCE_LABEL,
  instancesOf,
  NamespaceConflictError,
  NamespaceSelectorError,
} from './map-namespaces.ts'

const team = (name: string) => ({ matchLabels: { team: name } })
const injecting = (name: string, namespaceSelector = {}, spec: Partial<DynaKubeSpec> = {}) =>
  dynakube({ oneAgent: { applicationMonitoring: { namespaceSelector } }, ...spec }, { name })
const exporting = (name: string) => dynakube({ otlpExporterConfiguration: { signals: { logs: {} } } }, { name })
const namespace = (name: string, labels: Readonly<Record<string, string>> = {}) => ({ name, labels })
const labelled = (name: string, instance: string, labels = {}) =>
  namespace(name, { ...labels, [INSTANCE_LABEL]: instance })

/** The namespaces whose label is wrong, with what it should be. */
function mapped(dynakubes: readonly DynaKube[], namespaces: readonly NamespaceLabels[]) {
  const instances = instancesOf(dynakubes, namespaces, new IgnoredNamespacePatterns())
  return namespaces
    .map(({ name, labels: { [INSTANCE_LABEL]: before } }) => ({ name, before, instance: instances.get(name) }))
    .filter(({ before, instance }) => before !== instance)
    .map(({ name, instance }) => ({ name, instance }))
}
const concerned = (changed: NamespaceLabels, dynakubes: readonly DynaKube[]) =>
  concernedBy(changed, dynakubes, new IgnoredNamespacePatterns())

describe('a namespace', () => {
  it('gets the name of the DynaKube that selects it', () => {
    const namespaces = [namespace('shop', { team: 'a' }), namespace('bank', { team: 'b' })]
    expect(mapped([injecting('dk', team('a'))], namespaces)).toEqual([{ name: 'shop', instance: 'dk' }])
  })

  it('loses it when it is no longer selected', () => {
    expect(mapped([injecting('dk', team('a'))], [labelled('shop', 'dk')])).toEqual([
      { name: 'shop', instance: undefined },
    ])
  })

  it('keeps the name of an unknown DynaKube', () => {
    expect(mapped([injecting('dk', team('a'))], [labelled('shop', 'gone')])).toEqual([])
  })

  it.each(['dynatrace', 'kube-system', 'openshift', 'openshift-dns', 'gke-managed', 'gmp-system'])(
    'called %s is ignored',
    (name) => {
      expect(mapped([injecting('dk')], [namespace(name)])).toEqual([])
    },
  )

  it('cannot belong to two that inject', () => {
    const both = () => mapped([injecting('one'), injecting('two')], [namespace('shop')])
    expect(both).toThrow(NamespaceConflictError)
    expect(both).toThrow(/shop would be injected or enriched by one and two/)
  })

  it('may be shared with one that only configures exporters', () => {
    expect(mapped([injecting('one'), exporting('two')], [namespace('shop')])).toEqual([
      { name: 'shop', instance: 'two' },
    ])
  })

  it('is not changed when a selector cannot be read', () => {
    const selector = { matchExpressions: [{ key: 'a', operator: 'Near' }] }
    expect(() => mapped([injecting('dk', selector)], [namespace('shop')])).toThrow(NamespaceSelectorError)
  })
})

const labels = fc.dictionary(fc.constantFrom('team', INSTANCE_LABEL), fc.constantFrom('a', 'b', 'one', 'two'), {
  noNullPrototype: true,
})
const anyNamespace = fc.record({ name: fc.constantFrom('shop', 'bank', 'kube-system'), labels })

it('the mapping of namespaces changes nothing the second time', () => {
  const namespaces = fc.uniqueArray(anyNamespace, { selector: ({ name }) => name })
  fc.assert(
    fc.property(namespaces, (given) => {
      const dynakubes = [injecting('one', team('a')), injecting('two', team('b'))]
      const changes = new Map(mapped(dynakubes, given).map(({ name, instance }) => [name, instance]))
      const after = given.map(({ name, labels: before }) => {
        const { [INSTANCE_LABEL]: _instance, ...rest } = before
        const instance = changes.get(name)
        if (!changes.has(name)) return { name, labels: before }
        return { name, labels: instance === undefined ? rest : { ...rest, [INSTANCE_LABEL]: instance } }
      })
      expect(mapped(dynakubes, after)).toEqual([])
    }),
  )
})

describe('a change of a namespace', () => {
  it('concerns one of many DynaKubes when only that one selects it', () => {
    const dynakubes = Array.from({ length: 50 }, (_, index) => injecting(`dk-${index}`, team(`team-${index}`)))
    expect(concerned(namespace('shop', { team: 'team-7' }), dynakubes)).toEqual(['dk-7'])
  })

  it('concerns the DynaKube that it is labelled with, even if that was deleted', () => {
    expect(concerned(labelled('shop', 'gone', { team: 'a' }), [injecting('dk', team('a'))])).toEqual(['dk', 'gone'])
  })

  it('concerns no DynaKube that does not change pods', () => {
    expect(concerned(namespace('shop'), [dynakube({ oneAgent: { hostMonitoring: {} } })])).toEqual([])
  })

  it('is reconciled by a DynaKube whenever its label is wrong', () => {
    const selector = fc.constantFrom({}, team('a'), team('b'), { matchExpressions: [{ key: 'a', operator: 'Near' }] })
    const dynakubes = fc
      .tuple(selector, selector)
      .map(([one, two]) => [injecting('one', one), injecting('two', two), exporting('three')])
    fc.assert(
      fc.property(anyNamespace, dynakubes, fc.integer({ min: 0, max: 3 }), (changed, all, count) => {
        const present = all.slice(0, count)
        if (isRight(changed, present)) return
        expect(concerned(changed, present)).not.toEqual([])
      }),
    )
  })
})

function isRight(changed: NamespaceLabels, dynakubes: readonly DynaKube[]): boolean {
  try {
    return mapped(dynakubes, [changed]).length === 0
  } catch {
    // Two select it, or a selector is invalid: one of them must report it.
    return false
  }
}
