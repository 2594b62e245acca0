/** DynaKube between v1beta5 and v1beta6. */
import type { Spoke } from '@reeve/crd'
import type { DynaKube, DynaKubeSpec, DynaKubeStatus } from '../latest.ts'
import { lowerOneAgent, raiseOneAgent } from './one-agent-mode.ts'
import { DEFAULT_COLLECTOR_IMAGE, preserve, restore } from './preserved-fields.ts'
import { type DynaKubeV1Beta5, omit, specOf, withAnnotations } from './versions.ts'

type OldSpec = DynaKubeV1Beta5['spec']
type OldTemplates = OldSpec['templates']
type Templates = NonNullable<DynaKubeSpec['templates']>

/** Everything of the node, which is what older versions map. */
const ALL_HOST_PATHS = ['/']

/** To the stored version and back. */
export const v1beta5Spoke: Spoke<DynaKubeV1Beta5, DynaKube> = {
  toHub(object) {
    const spec = specOf(object, { apiUrl: '' })
    const { oneAgent, ...raised } = raiseOneAgent(spec.oneAgent)
    const isDefaultCollectorImage = !hasCollectorImage(spec.templates)
    return {
      ...object,
      metadata: withAnnotations(
        object.metadata,
        preserve(object.metadata.annotations, { ...raised, isDefaultCollectorImage }),
      ),
      spec: {
        ...omit(spec, 'oneAgent', 'activeGate', 'extensions', 'kspm', 'templates'),
        ...(spec.activeGate && { activeGate: withOneStorage(spec.activeGate) }),
        // Empty members are written as other writers of this version do, who compare whole objects.
        metadataEnrichment: { namespaceSelector: {}, ...spec.metadataEnrichment },
        ...(oneAgent && { oneAgent }),
        ...(spec.extensions && { extensions: { prometheus: {} } }),
        // Paths could be written in v1beta5 but were never used: everything was mapped.
        ...(spec.kspm && { kspm: { mappedHostPaths: [...ALL_HOST_PATHS] } }),
        templates: raiseTemplates(spec.templates, isDefaultCollectorImage),
      },
      status: raiseStatus(object.status),
    }
  },

  fromHub(object) {
    const spec = specOf(object, { apiUrl: '' })
    const { annotations, autoUpdate, isDefaultCollectorImage } = restore(object.metadata.annotations)
    const oneAgent = lowerOneAgent(spec.oneAgent, autoUpdate)
    const templates = lowerTemplates(spec.templates, isDefaultCollectorImage)
    return {
      ...object,
      metadata: withAnnotations(object.metadata, annotations),
      spec: {
        ...omit(spec, 'oneAgent', 'activeGate', 'extensions', 'kspm', 'templates', 'otlpExporterConfiguration'),
        ...(oneAgent && { oneAgent }),
        ...(spec.activeGate && { activeGate: omit(spec.activeGate, 'imagePullPolicy', 'rollingUpdate') }),
        ...(spec.extensions && { extensions: {} }),
        ...(spec.kspm && { kspm: {} }),
        ...(templates && { templates }),
      },
    }
  },
}

/**
 * Older versions admit an ephemeral volume besides a claim, and the claim is what is used. The stored version rejects
 * the two together, so that the flag, which has no effect, must not get there.
 */
function withOneStorage(activeGate: NonNullable<OldSpec['activeGate']>): NonNullable<DynaKubeSpec['activeGate']> {
  return activeGate.volumeClaimTemplate && activeGate.useEphemeralVolume
    ? omit(activeGate, 'useEphemeralVolume')
    : activeGate
}

function hasCollectorImage(templates: OldTemplates): boolean {
  const { repository, tag } = templates?.otelCollector?.imageRef ?? {}
  return Boolean(repository || tag)
}

function withDefaultImage(collector: NonNullable<OldTemplates>['otelCollector']) {
  return { ...collector, imageRef: { ...collector?.imageRef, ...DEFAULT_COLLECTOR_IMAGE } }
}

/** The image that conversion filled in goes; what the user says about pulling it stays. */
function withoutDefaultImage(collector: NonNullable<Templates['otelCollector']>): typeof collector {
  const { imageRef: { pullPolicy } = {}, ...rest } = collector
  return { ...rest, ...(pullPolicy && { imageRef: { pullPolicy } }) }
}

function raiseTemplates(old: OldTemplates, isDefaultCollectorImage: boolean): Templates {
  return {
    ...old,
    kspmNodeConfigurationCollector: { nodeAffinity: {}, ...old?.kspmNodeConfigurationCollector },
    ...(isDefaultCollectorImage && { otelCollector: withDefaultImage(old?.otelCollector) }),
    // The schema requires the image if the section is set.
    sqlExtensionExecutor: { imageRef: {} },
  }
}

function lowerTemplates(templates: DynaKubeSpec['templates'], isDefaultCollectorImage: boolean): OldTemplates {
  if (templates === undefined) return undefined
  const { otelCollector, logMonitoring, kspmNodeConfigurationCollector: kspm, ...rest } = templates
  const collector = isDefaultCollectorImage && otelCollector ? withoutDefaultImage(otelCollector) : otelCollector
  return {
    ...omit(rest, 'sqlExtensionExecutor'),
    ...(logMonitoring && { logMonitoring: omit(logMonitoring, 'rollingUpdate') }),
    ...(collector && { otelCollector: collector }),
    ...(kspm && { kspmNodeConfigurationCollector: { nodeAffinity: {}, ...kspm } }),
  }
}

function raiseStatus(status: DynaKubeV1Beta5['status']): DynaKubeStatus {
  return {
    codeModules: {},
    dynatraceApi: {},
    kspm: {},
    metadataEnrichment: {},
    ...status,
    activeGate: { connectionInfoStatus: {}, ...status?.activeGate },
    oneAgent: { connectionInfoStatus: {}, ...status?.oneAgent },
  }
}
