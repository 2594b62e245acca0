/** Decides what a pod gets, and which objects must be read for that. Pure. */
import { hasActiveGateCertificate } from '../../api/dynakube/active-gate-facts.ts'
import { areCodeModulesKnown } from '../../api/dynakube/feature-facts.ts'
import { FIXED_NAMES } from '../../api/dynakube/names.ts'
import { claimsNamespaces } from '../../api/dynakube/namespace-claims.ts'
import { isMode } from '../../api/dynakube/one-agent-facts.ts'
import { TenantUnknownError, tenantUuid } from '../../api/dynakube/tenant-facts.ts'
import type { DynaKube } from '../../api/latest.ts'
import { type AgentMode, agentMode } from './agent-mode.ts'
import { type FeatureName, POD_SETTINGS } from './annotations.ts'
import { installPathOf, isInstallPath } from './code-modules.ts'
import { ineligibility } from './eligibility.ts'
import { exporterEndpoint, exporterNeedsCertificate } from './exporter.ts'
import { codeModulesVerdict, enrichmentVerdict, exporterVerdict } from './features.ts'
import type { InjectionInput } from './injection-input.ts'
import { AGENT_VOLUMES, conflictingVolume, EXPORTER_VOLUMES, FILE_VOLUMES } from './own-volumes.ts'
import { INIT_CONTAINER } from './pod-edits.ts'
import { annotationOf, type Verdict } from './verdict.ts'

/** Why a feature that a pod should get cannot be injected. The pod is admitted without any of it. */
export interface FeatureFailure {
  readonly feature: FeatureName | 'volumes'
  /** Goes into the annotation for reasons. */
  readonly reason: string
  /** A sentence. */
  readonly message: string
  /** The annotation, label or field that decided. */
  readonly decidedBy: string
}

/** What a pod gets. */
export interface Decision {
  /** Why the pod is ignored; `undefined` if it is not. */
  readonly skipped: Verdict | undefined
  readonly codeModules: Verdict
  readonly enrichment: Verdict
  readonly exporter: Verdict
  /** How code modules get into the pod, if they do. */
  readonly mode: AgentMode
  /** The pod has been injected before; another webhook may have added containers. */
  readonly isReinvocation: boolean
  /** Failures that are known before any object is read. */
  readonly failure: FeatureFailure | undefined
  /** Secrets that code modules and enrichment need. */
  readonly injectionSecrets: readonly string[]
  /** Secrets without which exporters are not configured. */
  readonly exporterSecrets: readonly string[]
  readonly needsWorkload: boolean
}

/** Decides. */
export function decide(input: InjectionInput): Decision {
  const { pod, dynakube } = input
  const skipped = ineligibility(input)
  const codeModules = codeModulesVerdict(input)
  const enrichment = enrichmentVerdict(input, codeModules)
  const exporter = exporterVerdict(input)
  const isReinvocation = pod.spec.initContainers?.some(({ name }) => name === INIT_CONTAINER) ?? false
  const injects = skipped === undefined && claimsNamespaces(dynakube)
  const failure = injects ? injectionFailure(input, { codeModules, enrichment, isReinvocation }) : undefined
  // Also with a failure of the code modules: a missing Secret hides it, and exporters are configured all the same.
  const exports = skipped === undefined && exporter.isOn
  return {
    skipped,
    codeModules,
    enrichment,
    exporter,
    mode: agentMode(input),
    isReinvocation,
    failure,
    injectionSecrets: injects ? injectionSecrets(dynakube) : [],
    exporterSecrets: exports ? exporterSecrets(dynakube) : [],
    needsWorkload: exports || (injects && failure === undefined && enrichment.isOn && !isReinvocation),
  }
}

function injectionSecrets(dynakube: DynaKube): readonly string[] {
  const hasCertificates = hasActiveGateCertificate(dynakube) || Boolean(dynakube.spec.trustedCAs)
  return [FIXED_NAMES.bootstrapperConfig, ...(hasCertificates ? [FIXED_NAMES.bootstrapperCerts] : [])]
}

function exporterSecrets(dynakube: DynaKube): readonly string[] {
  return [
    FIXED_NAMES.otlpExporterConfig,
    ...(exporterNeedsCertificate(dynakube) ? [FIXED_NAMES.otlpExporterCerts] : []),
  ]
}

function injectionFailure(
  input: InjectionInput,
  { codeModules, enrichment, isReinvocation }: Pick<Decision, 'codeModules' | 'enrichment' | 'isReinvocation'>,
): FeatureFailure | undefined {
  const ofAgent = codeModules.isOn ? volumeFailure(input, 'codeModules', AGENT_VOLUMES) : undefined
  const ofFiles = codeModules.isOn || enrichment.isOn ? volumeFailure(input, 'volumes', FILE_VOLUMES) : undefined
  const inTheWay = ofAgent ?? ofFiles
  if (inTheWay !== undefined || !codeModules.isOn) return inTheWay
  return installPathFailure(input) ?? (isReinvocation ? undefined : codeModulesFailure(input))
}

function volumeFailure(
  { pod }: InjectionInput,
  feature: FeatureFailure['feature'],
  names: readonly string[],
): FeatureFailure | undefined {
  const name = conflictingVolume(pod, names)
  if (name === undefined) return undefined
  const message = `the pod has a volume ${name}, which is reserved for injection, of another type or content; rename it`
  return failed(feature, 'ConflictingVolumeType', message, `Pod spec.volumes[name=${name}]`)
}

function installPathFailure({ pod }: InjectionInput): FeatureFailure | undefined {
  const path = installPathOf(pod)
  if (isInstallPath(path)) return undefined
  const { installPath } = POD_SETTINGS
  const rule = 'write an absolute path other than /, without "..", double slashes, blanks, commas and colons'
  const message = `the annotation ${installPath} is ${JSON.stringify(path)}; ${rule}`
  return failed('codeModules', 'InvalidInstallPath', message, annotationOf('Pod', installPath))
}

function codeModulesFailure(input: InjectionInput): FeatureFailure | undefined {
  const { dynakube, settings } = input
  const { name } = dynakube.metadata
  // The API server rejects a pod with an init container that has no image.
  const lacksImage = agentMode(input) === 'image' && !dynakube.status?.codeModules?.imageID
  if (lacksImage || !areCodeModulesKnown(dynakube, settings.hasCsiDriver)) {
    const message = `the DynaKube ${name} does not have a version or image of the code modules in its status yet`
    return failed('codeModules', 'DynaKubeStatusNotReady', message, 'DynaKube status.codeModules')
  }
  if (isMode(dynakube, 'cloudNativeFullStack') && !isTenantKnown(dynakube)) {
    const message = `the DynaKube ${name} does not have a tenant UUID in its status yet`
    return failed(
      'codeModules',
      'MissingTenantUUID',
      message,
      'DynaKube status.oneAgent.connectionInfoStatus.tenantUUID',
    )
  }
  return undefined
}

function isTenantKnown(dynakube: DynaKube): boolean {
  try {
    return tenantUuid(dynakube) !== ''
  } catch (error) {
    if (error instanceof TenantUnknownError) return false
    throw error
  }
}

/** What keeps exporters from being configured, also for containers that were added to a pod since. */
export const exporterConflict = (input: InjectionInput): FeatureFailure | undefined =>
  exporterNeedsCertificate(input.dynakube) ? volumeFailure(input, 'exporter', EXPORTER_VOLUMES) : undefined

/** What keeps exporters from being configured once all Secrets are present. */
export function exporterFailure({ dynakube }: InjectionInput): FeatureFailure | undefined {
  if (exporterEndpoint(dynakube) !== undefined) return undefined
  const message = `the DynaKube ${dynakube.metadata.name} does not have a tenant UUID in its status yet`
  const field = 'DynaKube status.activeGate.connectionInfoStatus.tenantUUID'
  return failed('exporter', 'IngestEndpointUnavailable', message, field)
}

/** The workload of the pod could not be found. */
export function workloadFailure(feature: FeatureName, problem: string): FeatureFailure {
  const message = `the workload that the pod belongs to could not be found: ${problem}`
  return failed(feature, 'OwnerLookupFailed', message, 'Pod metadata.ownerReferences')
}

const failed = (
  feature: FeatureFailure['feature'],
  reason: string,
  message: string,
  decidedBy: string,
): FeatureFailure => ({
  feature,
  reason,
  message,
  decidedBy,
})
