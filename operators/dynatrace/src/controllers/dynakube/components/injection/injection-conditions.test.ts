import type { Namespace, Stored } from '@reeve/kube'
import type { CacheReader } from '@reeve/runtime'
import { describe, expect, it } from 'vitest'
import { IgnoredNamespacePatterns } from '../../../../api/ignored-namespaces.ts'
import type { DynaKube, DynaKubeSpec } from '../../../../api/latest.ts'
import { dynakube } from '../../../../api/testing/build.ts'
import type { Component } from '../../component.ts'
import { StatusDraft } from '../../status-draft.ts'
import { exporters } from './exporter-secrets.ts'
import { reportIgnoredNamespaces, reportInjection } from './injection-conditions.ts'
import { INSTANCE_LABEL } from './map-namespaces.ts'
import { injection } from './source-secrets.ts'

const namespace = (name: string, labels: Readonly<Record<string, string>>) =>
  ({ metadata: { name, labels: { [INSTANCE_LABEL]: 'dk', ...labels } } }) as unknown as Stored<Namespace>

/** The conditions about namespaces, as status, reason and message. */
function told(spec: Partial<DynaKubeSpec>, namespaces: readonly Stored<Namespace>[]) {
  const draft = StatusDraft.of(dynakube(spec), { now: () => 0 })
  reportInjection(draft, { failures: [], unknown: [] }, { list: () => namespaces } as unknown as CacheReader)
  const of = (type: string) => {
    const { status, reason, message } = draft.condition(type) ?? {}
    return status && `${status} ${reason}: ${message}`
  }
  return [of('OneAgentNamespacesMonitored'), of('MetadataEnrichmentNamespacesMonitored')]
}

const team = (value: string) => ({ matchLabels: { team: value } })

describe('the namespaces of a DynaKube', () => {
  it('are told by the feature that selects them', () => {
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

  it('are not told to have what is not known yet', () => {
    const spec = {
      oneAgent: { applicationMonitoring: {} },
      otlpExporterConfiguration: { signals: { logs: {} } },
    }
    const told = (unknown: readonly Component[]) => {
      const draft = StatusDraft.of(dynakube(spec), { now: () => 0 })
      reportInjection(draft, { failures: [], unknown }, { list: () => [] } as unknown as CacheReader)
      return draft.status.conditions?.map(({ type }) => type) ?? []
    }
    expect(told([injection])).toEqual([])
    expect(told([exporters])).toEqual(['CodeModulesInjection', 'OneAgentNamespacesMonitored'])
    expect(told([])).toContain('OTLPExporterConfiguration')
  })
})

describe('patterns of ignored namespaces that were stored', () => {
  const afterwards = (value: string, conditions: readonly object[] = []) => {
    // Conditions in the shape in which they are stored.
    const status = { conditions } as NonNullable<DynaKube['status']>
    const draft = StatusDraft.of(dynakube({}, { flags: { 'ignored-namespaces': value }, status }), { now: () => 0 })
    reportIgnoredNamespaces(draft, new IgnoredNamespacePatterns())
    return draft.condition('IgnoredNamespaces')
  }

  it('are told to be ignored when they exceed the limits', () => {
    expect(afterwards('["^a$", "(a{100}){10}(b{100}){10}"]')).toMatchObject({
      status: 'False',
      reason: 'LimitExceeded',
      message: expect.stringMatching(
        /ignored-namespaces exceeds its limits: pattern 2 .*; what exceeds them is ignored$/,
      ),
    })
  })

  it('are told no longer once they are corrected', () => {
    expect(afterwards('["^a$"]', [{ type: 'IgnoredNamespaces', status: 'False' }])).toBeUndefined()
  })
})
