/** Which features a pod gets. Pure. */
import { parseBoolean } from '../../api/annotation-values.ts'
import { hasMetadataEnrichment, hasOtlpExporter } from '../../api/dynakube/feature-facts.ts'
import { labelMatcher } from '../../api/dynakube/namespace-claims.ts'
import { injectionNamespaceSelector, isMode, needsAppInjection } from '../../api/dynakube/one-agent-facts.ts'
import { FEATURE_PREFIX, featureFlags } from '../../api/feature-flags.ts'
import { agentMode } from './agent-mode.ts'
import { FEATURES, POD_SETTINGS } from './annotations.ts'
import type { InjectionInput } from './injection-input.ts'
import { annotationOf, no, type Verdict, yes } from './verdict.ts'

/** Whether code modules are injected. */
export function codeModulesVerdict(input: InjectionInput): Verdict {
  const { dynakube } = input
  if (!needsAppInjection(dynakube)) {
    return no('the DynaKube has neither cloudNativeFullStack nor applicationMonitoring', 'DynaKube spec.oneAgent')
  }
  const mode = isMode(dynakube, 'cloudNativeFullStack') ? 'cloudNativeFullStack' : 'applicationMonitoring'
  return (
    optOut(input, FEATURES.codeModules.inject) ??
    mismatch(input, injectionNamespaceSelector(dynakube), `spec.oneAgent.${mode}.namespaceSelector`) ??
    yes(`the DynaKube has ${mode}, and nothing opts out`, `DynaKube spec.oneAgent.${mode}`)
  )
}

/** Whether files with metadata are written. */
export function enrichmentVerdict(input: InjectionInput, codeModules: Verdict): Verdict {
  const { dynakube } = input
  if (codeModules.isOn && agentMode(input) === 'image') {
    return yes(
      'the image with the code modules always writes metadata',
      annotationOf('DynaKube', `${FEATURE_PREFIX}node-image-pull`),
    )
  }
  if (!hasMetadataEnrichment(dynakube)) {
    return no('metadata enrichment is not enabled', 'DynaKube spec.metadataEnrichment.enabled')
  }
  return (
    optOut(input, FEATURES.enrichment.inject) ??
    mismatch(input, dynakube.spec.metadataEnrichment?.namespaceSelector, 'spec.metadataEnrichment.namespaceSelector') ??
    yes('metadata enrichment is enabled, and nothing opts out', 'DynaKube spec.metadataEnrichment.enabled')
  )
}

/** Whether OTLP exporters are configured. Its own annotation opts in only; the master switch opts out. */
export function exporterVerdict(input: InjectionInput): Verdict {
  const { pod, dynakube } = input
  if (!hasOtlpExporter(dynakube)) {
    return no('no OTLP signal is configured', 'DynaKube spec.otlpExporterConfiguration.signals')
  }
  const selector = dynakube.spec.otlpExporterConfiguration?.namespaceSelector
  const outside = mismatch(input, selector, 'spec.otlpExporterConfiguration.namespaceSelector')
  if (outside !== undefined) return outside
  const { inject } = FEATURES.exporter
  const { annotations = {} } = pod.metadata
  if (parseBoolean(annotations[inject])) {
    return yes(`the annotation ${inject} is "${annotations[inject]}"`, annotationOf('Pod', inject))
  }
  const general = optOut(input, POD_SETTINGS.inject)
  if (general !== undefined) return general
  const isIgnored = parseBoolean(annotations[inject]) === false
  const hint = isIgnored ? `; ${inject} only opts in: to opt out, set ${POD_SETTINGS.inject} to "false"` : ''
  return yes(`OTLP signals are configured${hint}`, 'DynaKube spec.otlpExporterConfiguration.signals')
}

/** What disables a feature that is on by default: the pod, or the default of the DynaKube. */
function optOut({ pod, dynakube }: InjectionInput, annotation: string): Verdict | undefined {
  const value = pod.metadata.annotations?.[annotation]
  const chosen = parseBoolean(value)
  if (chosen === true) return undefined
  if (chosen === false) return no(`the annotation ${annotation} is "${value}"`, annotationOf('Pod', annotation))
  if (featureFlags(dynakube).automaticInjection) return undefined
  return no(
    `automatic injection is off, and the pod does not have the annotation ${annotation}: "true"`,
    annotationOf('DynaKube', `${FEATURE_PREFIX}automatic-injection`),
  )
}

/** Features share one label on namespaces, so that each selector has to be checked here. */
function mismatch({ namespace }: InjectionInput, selector: object | undefined, field: string): Verdict | undefined {
  if (labelMatcher(selector)(namespace.labels)) return undefined
  return no(`the labels of the namespace ${namespace.name} do not match ${field}`, `DynaKube ${field}`)
}
