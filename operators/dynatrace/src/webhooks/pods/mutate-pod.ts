/** Applies a decision to a pod: everything, or nothing but annotations that say why not. Pure. */
import type { Container } from '@reeve/kube'
import { FIXED_NAMES } from '../../api/dynakube/names.ts'
import { claimsNamespaces } from '../../api/dynakube/namespace-claims.ts'
import { FEATURES, type FeatureName, OVERALL } from './annotations.ts'
import { containerArgument, enrichmentArguments } from './attributes.ts'
import { BIN_VOLUME, binVolume, withCodeModules } from './code-modules.ts'
import { CONFIG_VOLUME, hasConfigMounts, withConfigMounts } from './config-mounts.ts'
import { type Decision, exporterFailure, type FeatureFailure, workloadFailure } from './decision.ts'
import { exclusion } from './eligibility.ts'
import { exporterEndpoint, exporterObstacle, exporterVolumes, withExporter } from './exporter.ts'
import { initContainer, initVolumes } from './init-container.ts'
import type { InjectablePod, InjectionFacts, InjectionInput } from './injection-input.ts'
import { propagateMetadata, withWorkload } from './metadata.ts'
import { hasVolume, INIT_CONTAINER, mapContainers, withAnnotations, withVolumes } from './pod-edits.ts'
import { sharedAttributes, withResourceAttributes } from './resource-attributes.ts'

/** What became of a pod. */
export type Outcome = 'injected' | 'updated' | 'unchanged' | 'skipped' | 'notInjected'

/** Why a pod did not get all that it should. */
export interface InjectionFailure extends Omit<FeatureFailure, 'feature'> {
  /** The features that are left out. */
  readonly affects: readonly FeatureName[]
}

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

interface Step {
  readonly pod: InjectablePod
  readonly event?: 'Inject' | 'UpdatePod'
  /** Reverts everything, other steps included. */
  readonly failure?: FeatureFailure
  /** Only this step is left out. */
  readonly shortfall?: InjectionFailure
}

// The keys of the table are the features.
const EVERY_FEATURE = Object.keys(FEATURES) as FeatureName[]

/** The most that annotations of an object may take together. */
const MAX_ANNOTATION_BYTES = 256 * 1024

/**
 * Applies a decision.
 *
 * *Guarantees*: the input stays as it is; a failure leaves the pod as it was, apart from annotations that name the reason;
 * applying the result again changes nothing; nothing is added that would make the API server reject the pod.
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
    outcome: outcomeOf(original, pod),
    failures: [injection.shortfall, exporter.shortfall].filter((shortfall) => shortfall !== undefined),
    event: injection.event,
  }
}

function outcomeOf(before: InjectablePod, after: InjectablePod): Outcome {
  if (before === after) return 'unchanged'
  const wasInjected = before.spec.initContainers?.some(({ name }) => name === INIT_CONTAINER) ?? false
  if (before.spec !== after.spec) return wasInjected ? 'updated' : 'injected'
  // Only annotations: they say that nothing was to do, or why nothing was done.
  const hasNews = [OVERALL, FEATURES.exporter].some(
    ({ injected }) =>
      after.metadata.annotations?.[injected] === 'true' && before.metadata.annotations?.[injected] !== 'true',
  )
  return hasNews ? 'injected' : 'notInjected'
}

function reverted(original: InjectablePod, { feature, ...failure }: FeatureFailure): InjectionResult {
  const annotated = withAnnotations(original, notInjected(FEATURES[feature], failure.reason))
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

type ResultAnnotations = Pick<(typeof FEATURES)['codeModules'], 'injected' | 'reason'>

const isInjected = ({ injected, reason }: ResultAnnotations) => ({ [injected]: 'true', [reason]: undefined })

const notInjected = ({ injected, reason }: ResultAnnotations, why: string) => ({ [injected]: 'false', [reason]: why })

/** Code modules and enrichment. */
function inject(pod: InjectablePod, input: InjectionInput, decision: Decision, facts: InjectionFacts): Step {
  if (!claimsNamespaces(input.dynakube)) return { pod }
  const missing = missingSecret(decision.injectionSecrets, facts)
  if (missing !== undefined) {
    const reason = 'NoBootstrapperConfig'
    const shortfall = secretFailure(reason, missing, ['codeModules', 'enrichment'])
    return { pod: withAnnotations(pod, notInjected(OVERALL, reason)), shortfall }
  }
  if (decision.isReinvocation) return update(pod, input, decision)
  const { codeModules, enrichment, mode, failure } = decision
  if (!codeModules.isOn && !enrichment.isOn) {
    return { pod: withAnnotations(pod, notInjected(OVERALL, 'NoMutationNeeded')) }
  }
  if (failure !== undefined) return { pod, failure }
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

/** Containers that were added since. The rest of the pod stays as it is. */
function update(pod: InjectablePod, input: InjectionInput, { codeModules }: Decision): Step {
  // An init container of this name that is not ours, or whose volumes are gone: a mount would refer to nothing.
  if (!hasVolume(pod, CONFIG_VOLUME)) return { pod }
  const added = unconfigured(pod, input).map(containerArgument)
  const agent =
    codeModules.isOn && hasVolume(pod, BIN_VOLUME)
      ? mapIncluded(pod, input, (container) => withCodeModules(container, input))
      : pod
  const configured = addConfigMounts(agent, input)
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

function mapIncluded(
  pod: InjectablePod,
  { pod: original, dynakube }: InjectionInput,
  change: (container: Container) => Container,
): InjectablePod {
  return mapContainers(pod, (container) =>
    exclusion(container, original, dynakube) === undefined ? change(container) : container,
  )
}

function missingSecret(names: readonly string[], { secrets }: InjectionFacts) {
  for (const name of names) {
    const check = secrets.get(name)
    if (check?.isPresent === true) continue
    return { name, problem: check?.problem ?? `the Secret ${name} was not looked up` }
  }
  return undefined
}

function secretFailure(
  reason: string,
  { name, problem }: { readonly name: string; readonly problem: string },
  affects: readonly FeatureName[],
): InjectionFailure {
  return { reason, message: problem, decidedBy: `Secret ${name}`, affects }
}

/** OTLP exporters. */
function exportTelemetry(pod: InjectablePod, input: InjectionInput, decision: Decision, facts: InjectionFacts): Step {
  const { dynakube, pod: original } = input
  if (!decision.exporter.isOn) return { pod }
  const missing = missingSecret(decision.exporterSecrets, facts)
  if (missing !== undefined) {
    const isToken = missing.name === FIXED_NAMES.otlpExporterConfig
    const reason = isToken ? 'NoOTLPExporterConfigSecret' : 'NoOTLPExporterActiveGateCertSecret'
    const annotated = withAnnotations(pod, notInjected(FEATURES.exporter, reason))
    return { pod: annotated, shortfall: secretFailure(reason, missing, ['exporter']) }
  }
  const { workload, workloadProblem = 'it was not looked up' } = facts
  const failure =
    exporterFailure(dynakube) ?? (workload === undefined ? workloadFailure('exporter', workloadProblem) : undefined)
  const endpoint = exporterEndpoint(dynakube)
  if (failure !== undefined || endpoint === undefined || workload === undefined) {
    // What a former call has injected stays: this one was made for containers that were added since.
    const isRepeated = original.metadata.annotations?.[FEATURES.exporter.injected] === 'true'
    return isRepeated || failure === undefined ? { pod } : { pod, failure }
  }
  const { pod: named, attributes: metadata } = propagateMetadata(pod, input)
  const shared = sharedAttributes(input, metadata, workload)
  const configured = mapIncluded(named, input, (container) => {
    const isFree = exporterObstacle(container, dynakube) === undefined
    const pointed = isFree ? withExporter(container, dynakube, endpoint) : container
    return withResourceAttributes(pointed, shared)
  })
  const hasChanged = configured !== named
  const mounted = withVolumes(configured, exporterVolumes(configured.spec.containers))
  return { pod: withAnnotations(hasChanged ? withWorkload(mounted, workload) : mounted, isInjected(FEATURES.exporter)) }
}
