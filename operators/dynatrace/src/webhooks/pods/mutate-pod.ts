/** Applies a decision to a pod: everything, or nothing but annotations that say why not. Pure. */
import type { Container } from '@reeve/kube'
import { claimsNamespaces } from '../../api/dynakube/namespace-claims.ts'
import { FEATURES, type FeatureName, OVERALL, VOLUMES } from './annotations.ts'
import { containerArgument, enrichmentArguments } from './attributes.ts'
import { BIN_VOLUME, binVolume, withCodeModules } from './code-modules.ts'
import { CONFIG_VOLUME, hasConfigMounts, withConfigMounts } from './config-mounts.ts'
import { type Decision, type FeatureFailure, workloadFailure } from './decision.ts'
import { exclusion } from './eligibility.ts'
import { exportTelemetry } from './export-telemetry.ts'
import { initContainer, initVolumes } from './init-container.ts'
import type { InjectablePod, InjectionFacts, InjectionInput } from './injection-input.ts'
import {
  type InjectionFailure,
  isInjected,
  mapIncluded,
  missingSecret,
  notInjected,
  type Step,
  secretFailure,
} from './injection-step.ts'
import { propagateMetadata, withWorkload } from './metadata.ts'
import { hasVolume, INIT_CONTAINER, withAnnotations, withVolumes } from './pod-edits.ts'

/** What became of a pod. */
export type Outcome = 'injected' | 'updated' | 'unchanged' | 'skipped' | 'notInjected'

/** The result of injection. */
export interface InjectionResult {
  /** The same value as in the input when nothing changes. */
  readonly pod: InjectablePod
  readonly outcome: Outcome
  /** Why the pod did not get all that it should; empty when it did. */
  readonly failures: readonly InjectionFailure[]
  /** The init container is new, or has new work to do. */
  readonly event: 'Inject' | 'UpdatePod' | undefined
}

// The keys of the table are the features.
const EVERY_FEATURE = Object.keys(FEATURES) as FeatureName[]

/** The most that annotations of an object may take together. */
const MAX_ANNOTATION_BYTES = 256 * 1024

/**
 * Applies a decision.
 *
 * *Guarantees*: the input is not modified; after a failure the pod is unchanged, apart from annotations that name the
 * reason; applying the result again changes nothing; nothing is added that would make the API server reject the pod.
 *
 * @example
 * const decision = decide(input)
 * const { pod } = mutatePod(input, decision, await lookUp(decision))
 */
export function mutatePod(input: InjectionInput, decision: Decision, facts: InjectionFacts): InjectionResult {
  const { pod: original } = input
  if (decision.skipped !== undefined) return { pod: original, outcome: 'skipped', failures: [], event: undefined }
  const injection = inject(original, input, decision, facts)
  if (injection.failure !== undefined) return reverted(original, injection.failure)
  const exporter = exportTelemetry(injection.pod, input, decision, facts)
  if (exporter.failure !== undefined) return reverted(original, exporter.failure)
  const { pod } = exporter
  if (annotationBytes(pod) > MAX_ANNOTATION_BYTES) return tooLarge(original)
  return {
    pod,
    outcome: outcomeOf(original, pod, decision),
    failures: [injection.shortfall, exporter.shortfall].filter((shortfall) => shortfall !== undefined),
    event: injection.event,
  }
}

function outcomeOf(before: InjectablePod, after: InjectablePod, { exporter }: Decision): Outcome {
  if (before === after) return 'unchanged'
  const wasInjected = before.spec.initContainers?.some(({ name }) => name === INIT_CONTAINER) ?? false
  if (before.spec !== after.spec) return wasInjected ? 'updated' : 'injected'
  // Only annotations: they say that nothing was to do, or why nothing was done.
  const hasNews = [OVERALL, ...(exporter.isOn ? [FEATURES.exporter] : [])].some(
    ({ injected }) =>
      after.metadata.annotations?.[injected] === 'true' && before.metadata.annotations?.[injected] !== 'true',
  )
  return hasNews ? 'injected' : 'notInjected'
}

function reverted(original: InjectablePod, { feature, ...failure }: FeatureFailure): InjectionResult {
  const annotations = feature === 'volumes' ? VOLUMES : FEATURES[feature]
  const annotated = withAnnotations(original, notInjected(annotations, failure.reason))
  const pod = annotationBytes(annotated) > MAX_ANNOTATION_BYTES ? original : annotated
  return { pod, outcome: 'notInjected', failures: [{ ...failure, affects: EVERY_FEATURE }], event: undefined }
}

function tooLarge(pod: InjectablePod): InjectionResult {
  const message = `the annotations of the pod would take more than ${MAX_ANNOTATION_BYTES} bytes, which is the limit`
  const failure = {
    reason: 'AnnotationsTooLarge',
    message,
    decidedBy: 'Pod metadata.annotations',
    affects: EVERY_FEATURE,
  }
  return { pod, outcome: 'notInjected', failures: [failure], event: undefined }
}

function annotationBytes({ metadata: { annotations = {} } }: InjectablePod): number {
  return Object.entries(annotations).reduce((sum, pair) => sum + Buffer.byteLength(pair.join('')), 0)
}

/** Code modules and enrichment. */
function inject(pod: InjectablePod, input: InjectionInput, decision: Decision, facts: InjectionFacts): Step {
  if (!claimsNamespaces(input.dynakube)) return { pod }
  const missing = missingSecret(decision.injectionSecrets, facts)
  if (missing !== undefined) {
    const reason = 'NoBootstrapperConfig'
    const shortfall = secretFailure(reason, missing, ['codeModules', 'enrichment'])
    return { pod: withAnnotations(pod, notInjected(OVERALL, reason)), shortfall }
  }
  const { codeModules, enrichment, mode, failure } = decision
  if (failure !== undefined) return { pod, failure }
  if (decision.isReinvocation) return update(pod, input, decision)
  if (!codeModules.isOn && !enrichment.isOn) {
    return { pod: withAnnotations(pod, notInjected(OVERALL, 'NoMutationNeeded')) }
  }
  const { workload, workloadProblem = 'it was not looked up' } = facts
  if (enrichment.isOn && workload === undefined) return { pod, failure: workloadFailure('enrichment', workloadProblem) }

  const agent = codeModules.isOn ? addCodeModules(pod, input, decision) : pod
  const { pod: named, attributes } = enrichment.isOn
    ? propagateMetadata(withAnnotations(agent, isInjected(FEATURES.enrichment)), input)
    : { pod: agent, attributes: undefined }
  const enriched = workload && enrichment.isOn ? withWorkload(named, workload) : named
  const served = unconfigured(enriched, input).map(containerArgument)
  const container = initContainer(input, {
    ...(codeModules.isOn && { mode }),
    ...(attributes && workload && { enrichment: enrichmentArguments(workload, attributes) }),
    containers: served,
  })
  const configured = addConfigMounts(enriched, input)
  const complete = withVolumes(configured, initVolumes(pod))
  const initContainers = [...(complete.spec.initContainers ?? []), container]
  return {
    pod: withAnnotations({ ...complete, spec: { ...complete.spec, initContainers } }, isInjected(OVERALL)),
    event: 'Inject',
  }
}

/** Containers that were added since. The rest of the pod is not changed. */
function update(pod: InjectablePod, input: InjectionInput, { codeModules }: Decision): Step {
  // An init container of this name that is not ours, or whose volumes are missing: a mount would refer to nothing.
  if (!hasVolume(pod, CONFIG_VOLUME)) return { pod }
  const added = unconfigured(pod, input).map(containerArgument)
  const mounted = addConfigMounts(pod, input)
  const configured =
    codeModules.isOn && hasVolume(pod, BIN_VOLUME)
      ? mapIncluded(mounted, input, (container) => withCodeModules(container, input))
      : mounted
  if (configured === pod) return { pod }
  const initContainers = (pod.spec.initContainers ?? []).map((container) =>
    container.name === INIT_CONTAINER && added.length > 0
      ? { ...container, args: [...(container.args ?? []), ...added] }
      : container,
  )
  return { pod: { ...configured, spec: { ...configured.spec, initContainers } }, event: 'UpdatePod' }
}

function addCodeModules(pod: InjectablePod, input: InjectionInput, { mode }: Decision): InjectablePod {
  const mounted = mapIncluded(pod, input, (container) => withCodeModules(container, input))
  return withAnnotations(withVolumes(mounted, [binVolume(input, mode)]), isInjected(FEATURES.codeModules))
}

const addConfigMounts = (pod: InjectablePod, input: InjectionInput): InjectablePod =>
  mapIncluded(pod, input, (container) => withConfigMounts(container, input.pod, input.dynakube))

/** Containers for which there are no files yet. */
const unconfigured = (pod: InjectablePod, { pod: original, dynakube }: InjectionInput): readonly Container[] =>
  pod.spec.containers.filter(
    (container) =>
      exclusion(container, original, dynakube) === undefined && !hasConfigMounts(container, original, dynakube),
  )
