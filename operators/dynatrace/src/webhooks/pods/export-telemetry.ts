/** The step that configures the OTLP exporters of a pod. Pure. */
import { parseBoolean } from '../../api/annotation-values.ts'
import { hasOtlpExporter } from '../../api/dynakube/feature-facts.ts'
import { FIXED_NAMES } from '../../api/dynakube/names.ts'
import { FEATURES } from './annotations.ts'
import { type Decision, exporterConflict, exporterFailure, workloadFailure } from './decision.ts'
import { exporterEndpoint, exporterObstacle, exporterVolumes, withExporter } from './exporter.ts'
import type { InjectablePod, InjectionFacts, InjectionInput, Workload } from './injection-input.ts'
import { isInjected, mapIncluded, missingSecret, notInjected, type Step, secretFailure } from './injection-step.ts'
import { propagateMetadata, withWorkload } from './metadata.ts'
import { withAnnotations, withVolumes } from './pod-edits.ts'
import { sharedAttributes, withResourceAttributes } from './resource-attributes.ts'

/** Configures exporters. */
export function exportTelemetry(
  pod: InjectablePod,
  input: InjectionInput,
  decision: Decision,
  facts: InjectionFacts,
): Step {
  const { dynakube, pod: original } = input
  if (!hasOtlpExporter(dynakube)) return { pod }
  // Compatible: the Dynatrace Operator annotates pods that do not get the feature in the same way.
  if (!decision.exporter.isOn) return { pod: withAnnotations(pod, isInjected(FEATURES.exporter)) }
  const missing = missingSecret(decision.exporterSecrets, facts)
  if (missing !== undefined) {
    const isToken = missing.name === FIXED_NAMES.otlpExporterConfig
    const reason = isToken ? 'NoOTLPExporterConfigSecret' : 'NoOTLPExporterActiveGateCertSecret'
    const annotated = withAnnotations(pod, notInjected(FEATURES.exporter, reason))
    return { pod: annotated, shortfall: secretFailure(reason, missing, ['exporter']) }
  }
  const conflict = exporterConflict(input)
  if (conflict !== undefined) return { pod, failure: conflict }
  const { workload, workloadProblem = 'it was not looked up' } = facts
  const failure =
    exporterFailure(input) ?? (workload === undefined ? workloadFailure('exporter', workloadProblem) : undefined)
  // What an earlier call injected stays: this one was made for containers that were added since, and does what it can.
  const isRepeated = parseBoolean(original.metadata.annotations?.[FEATURES.exporter.injected]) === true
  if (failure !== undefined && !isRepeated) return { pod, failure }
  const configured = configureExporters(pod, input)
  const described = workload === undefined ? configured : describeResources(configured, input, workload)
  return { pod: withAnnotations(described, isInjected(FEATURES.exporter)) }
}

function configureExporters(pod: InjectablePod, input: InjectionInput): InjectablePod {
  const { dynakube } = input
  const endpoint = exporterEndpoint(dynakube)
  if (endpoint === undefined) return pod
  const configured = mapIncluded(pod, input, (container) =>
    exporterObstacle(container, dynakube) === undefined ? withExporter(container, dynakube, endpoint) : container,
  )
  return withVolumes(configured, exporterVolumes(configured.spec.containers))
}

function describeResources(pod: InjectablePod, input: InjectionInput, workload: Workload): InjectablePod {
  const { pod: named, attributes } = propagateMetadata(pod, input)
  const shared = sharedAttributes(input, attributes, workload)
  const described = mapIncluded(named, input, (container) => withResourceAttributes(container, shared))
  return described === named ? named : withWorkload(described, workload)
}
