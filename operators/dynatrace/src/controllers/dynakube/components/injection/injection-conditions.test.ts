import type { Namespace, Stored } from '@reeve/kube'
import type { CacheReader } from '@reeve/runtime'
import { describe, expect, it } from 'vitest'
import { IgnoredNamespacePatterns } from '../../../../api/ignored-namespaces.ts'
import type { DynaKube, DynaKubeSpec } from '../../../../api/latest.ts'
import { dynakube } from '../../../../api/testing/build.ts'
import { reporterOf } from '../../testing/reporter.ts'
import { reportInjection } from './injection-conditions.ts'
import { INSTANCE_LABEL } from './map-namespaces.ts'

const namespace = (name: string, labels: Readonly<Record<string, string>>) =>
  ({ metadata: { name, labels: { [INSTANCE_LABEL]: 'dk', ...labels } } }) as unknown as Stored<Namespace>

const ALL_KNOWN = { isInjectionKnown: true, areExportersKnown: true }

/** Only namespaces are listed. */
const factsWith = (namespaces: readonly Stored<Namespace>[]) => ({
  cache: { list: () => namespaces } as unknown as CacheReader,
  patterns: new IgnoredNamespacePatterns(),
})

/** The conditions about namespaces, as status, reason and message. */
function told(spec: Partial<DynaKubeSpec>, namespaces: readonly Stored<Namespace>[]) {
  const reporter = reporterOf(dynakube(spec))
  reportInjection(reporter, ALL_KNOWN, factsWith(namespaces))
  const of = (type: string) => {
    const { status, reason, message } = reporter.condition(type) ?? {}
    return status && `${status} ${reason}: ${message}`
  }
  return [of('OneAgentNamespacesMonitored'), of('MetadataEnrichmentNamespacesMonitored')]
}

const team = (value: string) => ({ matchLabels: { team: value } })

describe('the namespaces of a DynaKube', () => {
  it('are reported by the feature that selects them', () => {
    const spec = {
      oneAgent: { applicationMonitoring: { namespaceSelector: team('a') } },
      metadataEnrichment: { enabled: true, namespaceSelector: team('b') },
    }
    const namespaces = [namespace('shop', { team: 'b' }), namespace('bank', { team: 'b' })]
    expect(told(spec, namespaces)).toEqual([
      'False NoMatches: 0 namespaces match',
      'True MatchesFound: 2 namespaces match: bank, shop',
    ])
    expect(told({ oneAgent: { applicationMonitoring: {} } }, namespaces)).toEqual([
      'True MatchesFound: 2 namespaces match: bank, shop',
      undefined,
    ])
  })

  it('are named up to ten', () => {
    const namespaces = Array.from({ length: 11 }, (_, index) => namespace(`n${index + 10}`, {}))
    const names = 'n10, n11, n12, n13, n14, n15, n16, n17, n18, n19'
    expect(told({ oneAgent: { cloudNativeFullStack: {} } }, namespaces)).toEqual([
      `True MatchesFound: 11 namespaces match: ${names} (the first 10)`,
      undefined,
    ])
  })

  it('are not reported before it is known what they get', () => {
    const spec = {
      oneAgent: { applicationMonitoring: {} },
      otlpExporterConfiguration: { signals: { logs: {} } },
    }
    const typesFor = (outcome: Partial<typeof ALL_KNOWN>) => {
      const reporter = reporterOf(dynakube(spec))
      reportInjection(reporter, { ...ALL_KNOWN, ...outcome }, factsWith([]))
      return reporter.status?.conditions?.map(({ type }) => type) ?? []
    }
    expect(typesFor({ isInjectionKnown: false })).toEqual([])
    expect(typesFor({ areExportersKnown: false })).toEqual(['CodeModulesInjection', 'OneAgentNamespacesMonitored'])
    expect(typesFor({})).toContain('OTLPExporterConfiguration')
  })
})

describe('patterns of ignored namespaces that were stored', () => {
  const afterwards = (value: string, conditions: readonly object[] = []) => {
    // Conditions in the shape in which they are stored.
    const status = { conditions } as NonNullable<DynaKube['status']>
    const reporter = reporterOf(dynakube({}, { flags: { 'ignored-namespaces': value }, status }))
    reportInjection(reporter, ALL_KNOWN, factsWith([]))
    return reporter.condition('IgnoredNamespaces')
  }

  it('are reported to be ignored when they exceed the limits', () => {
    expect(afterwards('["^a$", "(a{100}){10}(b{100}){10}"]')).toMatchObject({
      status: 'False',
      reason: 'LimitExceeded',
      message: expect.stringMatching(
        /ignored-namespaces exceeds its limits: pattern 2 .*; what exceeds them is ignored$/,
      ),
    })
  })

  it('are no longer reported once they are corrected', () => {
    expect(afterwards('["^a$"]', [{ type: 'IgnoredNamespaces', status: 'False' }])).toBeUndefined()
  })
})
