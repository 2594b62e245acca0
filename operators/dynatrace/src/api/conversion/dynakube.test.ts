import type { KubeObject } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import type { DynaKube, DynaKubeSpec } from '../latest.ts'
import { convertDynaKube } from './convert.ts'

const AUTO_UPDATE = 'conversion.internal.dynatrace.com/auto-update'
const DEFAULT_IMAGE = 'conversion.internal.dynatrace.com/default-otelc-image'
const collectorImage = { repository: 'r', tag: 't' }
const templates = { otelCollector: { imageRef: collectorImage } }

function object(version: string, spec: object, annotations?: Record<string, string>, status?: object): KubeObject {
  const metadata = { namespace: 'dynatrace', name: 'dk', ...(annotations && { annotations }) }
  return {
    apiVersion: `dynatrace.com/${version}`,
    kind: 'DynaKube',
    metadata,
    spec: { apiUrl: 'https://x/api', ...spec },
    ...(status && { status }),
  } as KubeObject
}

/** All versions share the shape that these tests use. */
type AnyDynaKube = DynaKube & {
  readonly spec: DynaKubeSpec & {
    readonly oneAgent?: Record<string, { readonly autoUpdate?: boolean }>
    readonly activeGate?: { readonly persistentVolumeClaim?: object }
  }
}
const convert = (from: KubeObject, to: string) => convertDynaKube(from, to) as AnyDynaKube
const OLD = ['v1beta3', 'v1beta4', 'v1beta5']

describe('autoUpdate', () => {
  const old = object('v1beta5', { oneAgent: { hostMonitoring: { autoUpdate: false } }, templates })

  it('becomes an annotation of v1beta6', () => {
    const { metadata, spec } = convert(old, 'v1beta6')
    expect(metadata.annotations).toEqual({ [AUTO_UPDATE]: 'false' })
    expect(spec.oneAgent).toEqual({ hostMonitoring: {} })
  })

  it('is returned without the annotation', () => {
    const back = convert(convert(old, 'v1beta6'), 'v1beta5')
    expect(back.spec.oneAgent?.hostMonitoring).toEqual({ autoUpdate: false })
    expect(back.metadata.annotations).toBeUndefined()
  })

  it('overrules an annotation that a client sent, for modes that have the field', () => {
    const sent = { [AUTO_UPDATE]: 'true' }
    const upward = (oneAgent: object) =>
      convert(object('v1beta5', { oneAgent, templates }, sent), 'v1beta6').metadata.annotations
    expect(upward({ hostMonitoring: {} })).toBeUndefined()
    expect(upward({ hostMonitoring: { autoUpdate: false } })).toEqual({ [AUTO_UPDATE]: 'false' })
    expect(upward({ applicationMonitoring: {} })).toEqual(sent)
    expect(upward({})).toEqual(sent)
  })

  it.each([
    ['true', { autoUpdate: true }],
    ['null', { autoUpdate: false }],
    ['maybe', {}],
  ])('is read from the annotation %s', (value, expected) => {
    const hub = object('v1beta6', { oneAgent: { classicFullStack: {} } }, { [AUTO_UPDATE]: value })
    const { metadata, spec } = convert(hub, 'v1beta4')
    expect(spec.oneAgent?.classicFullStack).toEqual(expected)
    expect(metadata.annotations).toBeUndefined()
  })
})

describe('the image of the collector', () => {
  it.each(OLD)('is filled in and marked when %s has none', (version) => {
    const { metadata, spec } = convert(object(version, {}), 'v1beta6')
    expect(spec.templates?.otelCollector?.imageRef).toEqual({
      repository: 'public.ecr.aws/dynatrace/dynatrace-otel-collector',
      tag: 'latest',
    })
    expect(metadata.annotations).toEqual({ [DEFAULT_IMAGE]: 'true' })
  })

  it('is blanked in older versions when it was filled in', () => {
    const hub = object('v1beta6', { templates }, { [DEFAULT_IMAGE]: 'true', kept: 'yes' })
    const { metadata, spec } = convert(hub, 'v1beta5')
    expect(spec.templates?.otelCollector?.imageRef ?? {}).toEqual({})
    expect(metadata.annotations).toEqual({ kept: 'yes' })
  })

  it('is unchanged when half of it is given', () => {
    const half = { otelCollector: { imageRef: { repository: 'r' } } }
    const { metadata, spec } = convert(object('v1beta5', { templates: half }), 'v1beta6')
    expect(spec.templates?.otelCollector?.imageRef).toEqual({ repository: 'r' })
    expect(metadata.annotations).toBeUndefined()
  })
})

describe('features', () => {
  it.each(OLD)('extensions of %s are Prometheus', (version) => {
    expect(convert(object(version, { extensions: {} }), 'v1beta6').spec.extensions).toEqual({ prometheus: {} })
  })

  it('extensions are only present in older versions', () => {
    const hub = object('v1beta6', { extensions: { databases: [{ id: 'a' }] } })
    expect(convert(hub, 'v1beta5').spec.extensions).toEqual({})
  })

  it.each(OLD)('KSPM of %s maps everything', (version) => {
    expect(convert(object(version, { kspm: {} }), 'v1beta6').spec.kspm).toEqual({ mappedHostPaths: ['/'] })
    expect(convert(object(version, {}), 'v1beta6').spec.kspm).toBeUndefined()
  })

  it('the claim of the ActiveGate has another name in v1beta4', () => {
    const claim = { storageClassName: 'fast' }
    const hub = convert(object('v1beta4', { activeGate: { persistentVolumeClaim: claim } }), 'v1beta6')
    expect(hub.spec.activeGate).toEqual({ volumeClaimTemplate: claim })
    expect(convert(hub, 'v1beta4').spec.activeGate).toEqual({ persistentVolumeClaim: claim })
    expect(convert(hub, 'v1beta3').spec.activeGate).toEqual({})
  })

  it.each(['v1beta4', 'v1beta5'])('telemetry ingest of %s is kept, both ways', (version) => {
    const telemetryIngest = { protocols: ['otlp'], serviceName: 's', tlsRefName: 't' }
    const hub = convert(object(version, { telemetryIngest }), 'v1beta6')
    expect(hub.spec.telemetryIngest).toEqual(telemetryIngest)
    expect(convert(hub, version).spec.telemetryIngest).toEqual(telemetryIngest)
  })

  it('what v1beta3 does not have is left out there', () => {
    const hub = object('v1beta6', {
      telemetryIngest: {},
      oneAgent: { cloudNativeFullStack: { storageHostPath: '/data', image: 'i' } },
      activeGate: { useEphemeralVolume: true, terminationGracePeriodSeconds: 3, group: 'g' },
    })
    const { spec } = convert(hub, 'v1beta3')
    expect(spec.telemetryIngest).toBeUndefined()
    expect(spec.oneAgent).toEqual({ cloudNativeFullStack: { image: 'i' } })
    expect(spec.activeGate).toEqual({ group: 'g' })
  })
})

describe('settings about updates', () => {
  const rollingUpdate = { maxUnavailable: 2 }
  const imagePullPolicy = 'Never'
  const hub = object('v1beta6', {
    activeGate: { group: 'g', rollingUpdate, imagePullPolicy },
    oneAgent: {
      cloudNativeFullStack: { image: 'i', rollingUpdate, imagePullPolicy, codeModulesImagePullPolicy: imagePullPolicy },
    },
    templates: { logMonitoring: { dnsPolicy: 'Default', rollingUpdate }, otelCollector: { imageRef: collectorImage } },
  })

  it.each(OLD)('are left out of %s, which does not have them', (version) => {
    const { spec } = convert(hub, version)
    expect(spec.activeGate).toEqual({ group: 'g' })
    expect(spec.oneAgent).toEqual({ cloudNativeFullStack: { image: 'i' } })
    expect(spec.templates?.logMonitoring).toEqual({ dnsPolicy: 'Default' })
  })

  it.each(OLD)('about images of templates exist in %s and are kept, even with the default image', (version) => {
    const imageRef = { pullPolicy: 'Never' }
    const old = object(version, { templates: { otelCollector: { imageRef }, logMonitoring: { imageRef } } })
    const latest = convert(old, 'v1beta6')
    expect(latest.spec.templates?.otelCollector?.imageRef).toMatchObject({ pullPolicy: 'Never', tag: 'latest' })
    const back = convert(latest, version).spec.templates
    expect(back?.otelCollector?.imageRef).toEqual(imageRef)
    expect(back?.logMonitoring?.imageRef).toEqual(imageRef)
  })
})

describe('modes', () => {
  it.each(OLD)('of %s stay the only one', (version) => {
    const hub = convert(object(version, { oneAgent: { classicFullStack: {} } }), 'v1beta6')
    expect(hub.spec.oneAgent).toEqual({ classicFullStack: {} })
    expect(convert(hub, version).spec.oneAgent).toEqual({ classicFullStack: {} })
  })

  it('beyond the first are dropped, and the host group is kept', () => {
    const oneAgent = {
      hostGroup: 'g',
      hostMonitoring: {},
      cloudNativeFullStack: { version: '1' },
      classicFullStack: null,
    }
    expect(convert(object('v1beta5', { oneAgent }), 'v1beta6').spec.oneAgent).toEqual({
      hostGroup: 'g',
      cloudNativeFullStack: { version: '1' },
    })
  })
})

describe('objects', () => {
  it.each(OLD)('without annotations, spec or status convert up and down from %s', (version) => {
    const { spec: _, ...bare } = object(version, {}) as KubeObject & { readonly spec: object }
    expect(convert(bare, 'v1beta6').spec.apiUrl).toBe('')
    const hub: KubeObject = { ...bare, apiVersion: 'dynatrace.com/v1beta6' }
    expect(convert(hub, version).metadata.annotations).toBeUndefined()
  })

  it.each(OLD)('keep their status up and down from %s', (version) => {
    const status = {
      phase: 'Running',
      kubeSystemUUID: 'uid',
      codeModules: { version: '1' },
      activeGate: { version: '2', connectionInfoStatus: { tenantUUID: 't' } },
      oneAgent: {
        version: '3',
        instances: { node: { podName: 'p', ipAddress: '1.2.3.4' } },
        connectionInfoStatus: { communicationHosts: [{ protocol: 'https', host: 'h', port: 443 }] },
      },
      conditions: [
        {
          type: 'Tokens',
          status: 'True',
          reason: 'TokenReady',
          message: '',
          lastTransitionTime: '2030-01-01T00:00:00Z',
        },
      ],
    }
    const hub = convert(object(version, {}, undefined, status), 'v1beta6')
    expect(hub.status).toMatchObject(status)
    expect(convert(hub, version).status).toMatchObject(status)
  })

  it.each(['v1beta4', 'v1beta5'])('created in %s show the empty members of v1beta6', (version) => {
    const { spec, status } = convert(object(version, {}), 'v1beta6')
    expect(status).toEqual({
      activeGate: { connectionInfoStatus: {} },
      codeModules: {},
      dynatraceApi: {},
      kspm: {},
      metadataEnrichment: {},
      oneAgent: { connectionInfoStatus: {} },
    })
    expect(spec.metadataEnrichment).toEqual({ namespaceSelector: {} })
    expect(spec.templates?.sqlExtensionExecutor).toEqual({ imageRef: {} })
  })

  it('have a switch on their enrichment rules in v1beta4 only', () => {
    const rule = { type: 'LABEL', source: 's', target: 't' }
    const old = object('v1beta4', {}, undefined, { metadataEnrichment: { rules: [{ ...rule, enabled: true }] } })
    const hub = convert(old, 'v1beta6')
    expect(hub.status?.metadataEnrichment).toEqual({ rules: [rule] })
    expect(convert(hub, 'v1beta4').status?.metadataEnrichment).toEqual({ rules: [{ ...rule, enabled: false }] })
    expect(convert(hub, 'v1beta5').status?.metadataEnrichment).toEqual({ rules: [rule] })
  })

  it('convert between old versions through the stored one', () => {
    const claim = { storageClassName: 'fast' }
    const old = object('v1beta4', { activeGate: { persistentVolumeClaim: claim }, oneAgent: { hostMonitoring: {} } })
    const converted = convert(old, 'v1beta5')
    expect(converted.apiVersion).toBe('dynatrace.com/v1beta5')
    expect(converted.spec.activeGate).toEqual({ volumeClaimTemplate: claim })
  })
})
