import { describe, expect, it } from 'vitest'
import { dynakube } from '../testing/build.ts'
import {
  areCodeModulesKnown,
  customCodeModulesImage,
  enrichmentAnnotation,
  enrichmentAttribute,
  hasDatabases,
  hasExtensions,
  hasMetadataEnrichment,
  hasOtlpExporter,
  hasStandaloneLogMonitoring,
  ingestProtocols,
  kspmHostPaths,
} from './feature-facts.ts'

describe('features of a DynaKube', () => {
  it('need a data source, not only the section of extensions', () => {
    expect(hasExtensions(dynakube({ extensions: {} }))).toBe(false)
    expect(hasExtensions(dynakube({ extensions: { prometheus: {} } }))).toBe(true)
    expect(hasDatabases(dynakube({ extensions: { databases: [{ id: 'a' }] } }))).toBe(true)
  })

  it('use a separate log agent only without a OneAgent on the nodes', () => {
    expect(hasStandaloneLogMonitoring(dynakube({ logMonitoring: {} }))).toBe(true)
    expect(hasStandaloneLogMonitoring(dynakube({ logMonitoring: {}, oneAgent: { hostMonitoring: {} } }))).toBe(false)
    expect(hasStandaloneLogMonitoring(dynakube({ logMonitoring: {}, oneAgent: { applicationMonitoring: {} } }))).toBe(
      true,
    )
  })

  it('receive all protocols when none is chosen', () => {
    const all = ['otlp', 'jaeger', 'statsd', 'zipkin']
    expect(ingestProtocols(dynakube({ telemetryIngest: {} }))).toEqual(all)
    expect(ingestProtocols(dynakube({ telemetryIngest: { protocols: [] } }))).toEqual(all)
    expect(ingestProtocols(dynakube({ telemetryIngest: { protocols: ['zipkin'] } }))).toEqual(['zipkin'])
  })

  it('configure exporters when at least one signal is enabled', () => {
    expect(hasOtlpExporter(dynakube({ otlpExporterConfiguration: { signals: {} } }))).toBe(false)
    expect(hasOtlpExporter(dynakube({ otlpExporterConfiguration: { signals: { logs: {} } } }))).toBe(true)
  })

  it('enrich only when enabled', () => {
    expect(hasMetadataEnrichment(dynakube({ metadataEnrichment: {} }))).toBe(false)
    expect(hasMetadataEnrichment(dynakube({ metadataEnrichment: { enabled: true } }))).toBe(true)
  })

  it('check each path once, in order', () => {
    expect(kspmHostPaths(dynakube({ kspm: { mappedHostPaths: ['/b', '/a', '/b'] } }))).toEqual(['/a', '/b'])
  })

  it('take code modules from an image where something can unpack it', () => {
    const spec = { codeModulesImage: 'i' }
    const application = dynakube({ oneAgent: { applicationMonitoring: spec } })
    const pulling = dynakube({ oneAgent: { applicationMonitoring: spec } }, { flags: { 'node-image-pull': 'true' } })
    const cloud = dynakube({ oneAgent: { cloudNativeFullStack: spec } })
    expect(customCodeModulesImage(application, false)).toBe('')
    expect([application, pulling, cloud].map((object) => customCodeModulesImage(object, true))).toEqual(['i', 'i', 'i'])
    expect([pulling, cloud].map((object) => customCodeModulesImage(object, false))).toEqual(['i', 'i'])
  })

  it('know their code modules by image or by version', () => {
    const known = (codeModulesImage: string, codeModules: { imageID?: string; version?: string }) =>
      areCodeModulesKnown(
        dynakube({ oneAgent: { cloudNativeFullStack: { codeModulesImage } } }, { status: { codeModules } }),
        true,
      )
    expect([known('i', { imageID: 'i' }), known('i', { version: '1' })]).toEqual([true, false])
    expect([known('', { version: '1' }), known('', { version: 'custom-image' }), known('', {})]).toEqual([
      true,
      false,
      false,
    ])
  })

  it('name the annotation of a rule after its target', () => {
    expect(enrichmentAnnotation({ type: 'LABEL', source: 'team', target: '' })).toBe('')
    expect(enrichmentAnnotation({ target: 'x' })).toBe('metadata.dynatrace.com/x')
    expect(enrichmentAttribute({ type: 'LABEL', source: 'team' })).toBe('k8s.namespace.label.team')
  })
})
