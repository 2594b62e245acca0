/** Which versions of agents, code modules and gateways to run. */
import { formatTime } from '@reeve/runtime'
import { customCodeModulesImage } from '../../../../api/dynakube/feature-facts.ts'
import { customOneAgentImage, customVersion, isOneAgentAutoUpdated } from '../../../../api/dynakube/one-agent-facts.ts'
import {
  defaultActiveGateImage,
  defaultOneAgentImage,
  isApiRequestAllowed,
} from '../../../../api/dynakube/tenant-facts.ts'
import {
  CUSTOM_IMAGE_VERSION,
  type VersionedComponent,
  type VersionSource,
  versionSource,
} from '../../../../api/dynakube/version-source.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import type { DynaKube, DynaKubeStatus } from '../../../../api/latest.ts'
import { imageUri, type PublicImage } from '../../../../tenant/client/images.ts'
import { codeModules, hostInstaller } from '../../../../tenant/client/installer-target.ts'
import type { TenantClient } from '../../../../tenant/client/tenant-client.ts'
import { isImage } from '../../../rendering/image.ts'
import { type DynaKubeContext, type DynaKubeReporter, withStatus } from '../../dynakube-component.ts'
import { updateActiveGate, updateOneAgent } from '../../status-parts.ts'
import { reported } from '../../tenant-requests.ts'
import { tenantOf } from '../tenant/tenant.ts'
import { compareAgentVersions, isOlderThan, parseAgentVersion } from './agent-version.ts'

/** Reasons of conditions about versions. */
const REASONS = {
  verified: 'Verified',
  skipped: 'VerificationSkipped',
  failed: 'VerificationFailed',
  downgrade: 'Downgrade',
} as const

type VersionStatus = NonNullable<DynaKubeStatus['codeModules']>

type RequestOptions = Pick<DynaKubeContext, 'signal'>

/** What differs between the components. */
interface Target {
  readonly component: VersionedComponent
  readonly condition: string
  isAutoUpdated(dynakube: DynaKube): boolean
  customImage(dynakube: DynaKube, hasCsiDriver: boolean): string
  publicImage(client: TenantClient, options: RequestOptions): Promise<PublicImage>
  latestVersion(client: TenantClient, options: RequestOptions): Promise<string>
  /** The image in the registry of the tenant; empty for what is downloaded instead. */
  tenantImage(dynakube: DynaKube, version: string): string
  readonly refusesDowngrade: boolean
}

const TARGETS: Readonly<Record<VersionedComponent, Target>> = {
  oneAgent: {
    component: 'oneAgent',
    condition: 'OneAgentVersion',
    isAutoUpdated: isOneAgentAutoUpdated,
    customImage: customOneAgentImage,
    publicImage: ({ images }, options) => images.oneAgent(options),
    latestVersion: ({ versions }, options) => versions.latestAgent(hostInstaller, options),
    tenantImage: defaultOneAgentImage,
    refusesDowngrade: true,
  },
  codeModules: {
    component: 'codeModules',
    condition: 'CodeModulesVersion',
    isAutoUpdated: () => true,
    customImage: customCodeModulesImage,
    publicImage: ({ images }, options) => images.codeModules(options),
    latestVersion: ({ versions }, options) => versions.latestAgent(codeModules(), options),
    tenantImage: () => '',
    refusesDowngrade: false,
  },
  activeGate: {
    component: 'activeGate',
    condition: 'ActiveGateVersion',
    isAutoUpdated: (dynakube) => featureFlags(dynakube).activeGateUpdates,
    customImage: ({ spec }) => spec.activeGate?.image ?? '',
    publicImage: ({ images }, options) => images.activeGate(options),
    latestVersion: ({ versions }, options) => versions.latestGateway(options),
    tenantImage: defaultActiveGateImage,
    refusesDowngrade: false,
  },
}

/** The condition that reports the version of a component. */
export const versionCondition = (component: VersionedComponent): string => TARGETS[component].condition

/** A version that cannot be verified. */
class VersionError extends Error {
  readonly code = 'VERSION_UNREADABLE'
  override readonly name = 'VersionError'
}

/**
 * Decides the version of a component and keeps it in the status.
 *
 * *Guarantees*: while the tenant is unavailable, the version that runs stays. *Errors*: errors of the tenant when there
 * is no version yet.
 *
 * @example
 * await resolveVersion(context, 'oneAgent')
 */
export async function resolveVersion(context: DynaKubeContext, component: VersionedComponent): Promise<void> {
  const target = TARGETS[component]
  const { reporter, clock, dependencies } = context
  const source = versionSource(reporter.primary, component, dependencies.operator.hasCsiDriver)
  if (!isDue(context, target, source)) return
  try {
    const found = await find(context, target, source)
    store(reporter, target, { ...found, source, lastProbeTimestamp: formatTime(clock.now()) })
  } catch (error) {
    context.signal.throwIfAborted()
    const { imageID, version } = reporter.status?.[component] ?? {}
    if (!imageID && !version) throw error
    // An unavailable tenant must not stop agents that run.
    context.logger.warn({ component, err: error }, 'version lookup failed, keeping the last one')
  }
}

function isDue({ reporter, dependencies, clock }: DynaKubeContext, target: Target, source: VersionSource): boolean {
  const dynakube = withStatus(reporter.primary)
  const { hasCsiDriver } = dependencies.operator
  const stored = dynakube.status[target.component] ?? {}
  if (stored.source !== source) return true
  if (source === 'custom-image' && !isImage(stored.imageID, target.customImage(dynakube, hasCsiDriver))) return true
  if (source === 'custom-version' && stored.version !== customVersion(dynakube)) return true
  if (isDamaged(target, stored)) return true
  // What failed may have been a version in the spec that was corrected since; the stored one is as it was before.
  if (reporter.condition(target.condition)?.reason === REASONS.failed) return true
  return isApiRequestAllowed(dynakube, stored.lastProbeTimestamp, clock.now())
}

/** The members of the status besides source and time; empty when they stay as they are. */
async function find(context: DynaKubeContext, target: Target, source: VersionSource): Promise<Partial<VersionStatus>> {
  const { reporter, dependencies } = context
  const dynakube = withStatus(reporter.primary)
  const stored = dynakube.status[target.component] ?? {}
  const verified = (reason: string, message: string) =>
    reporter.setCondition({ type: target.condition, status: 'True', reason, message })
  if (source === 'custom-image') {
    verified(REASONS.skipped, 'The image is the one in the spec')
    return {
      imageID: target.customImage(dynakube, dependencies.operator.hasCsiDriver),
      version: CUSTOM_IMAGE_VERSION,
    }
  }
  const isFrozen = !target.isAutoUpdated(dynakube) && source !== 'custom-version'
  const isKept = stored.version && stored.source === source && !isDamaged(target, stored)
  if (isFrozen && isKept) return {}
  const found =
    source === 'public-registry' ? await findPublic(context, target) : await findInTenant(context, target, source)
  if (target.refusesDowngrade && isDowngrade(reporter, target, found.version)) return {}
  const isSkipped = target.component === 'codeModules' && source === 'custom-version'
  verified(isSkipped ? REASONS.skipped : REASONS.verified, `Version ${found.version}`)
  return found
}

type Found = Required<Pick<VersionStatus, 'imageID' | 'version'>>

async function findPublic(context: DynaKubeContext, target: Target): Promise<Found> {
  const { client } = tenantOf(context)
  const image = await reported(context, target.condition, () => target.publicImage(client, { signal: context.signal }))
  return { imageID: imageUri(image), version: image.tag }
}

async function findInTenant(context: DynaKubeContext, target: Target, source: VersionSource): Promise<Found> {
  const { primary: dynakube } = context.reporter
  const { client } = tenantOf(context)
  const version =
    source === 'custom-version'
      ? customVersion(dynakube)
      : await reported(context, target.condition, () => target.latestVersion(client, { signal: context.signal }))
  if (version === '') throw unverified(context.reporter, target, `the tenant has no version of ${target.component}`)
  return { imageID: target.tenantImage(dynakube, version), version }
}

/**
 * Whether the stored version of agents cannot be parsed, after a manual change for instance: it is replaced
 * immediately.
 */
function isDamaged({ refusesDowngrade }: Target, { version, source }: VersionStatus): boolean {
  const isFromTenant = source === 'tenant-registry' || source === 'public-registry'
  return refusesDowngrade && isFromTenant && parseAgentVersion(version ?? '') === undefined
}

/** An older agent cannot read what a newer one has left on the node. */
function isDowngrade(reporter: DynaKubeReporter, target: Target, found: string): boolean {
  const { imageID, version = '', source } = reporter.status?.[target.component] ?? {}
  const isComparable = source === 'tenant-registry' || source === 'public-registry'
  if (!imageID || !isComparable) return false
  const [before, after] = [parseAgentVersion(version), parseAgentVersion(found)]
  if (after === undefined) throw unverified(reporter, target, `version "${found}" cannot be parsed`)
  // A version that cannot be parsed runs nowhere: there is nothing to downgrade.
  if (before === undefined || compareAgentVersions(after, before) >= 0) return false
  const message = `Version ${found} is older than ${version}, which stays; agents are not downgraded`
  reporter.setCondition({ type: target.condition, status: 'False', reason: REASONS.downgrade, message })
  return true
}

/** A version that cannot be verified. Only agents, which are never downgraded, report it in their condition. */
function unverified(
  reporter: DynaKubeReporter,
  { condition, refusesDowngrade }: Target,
  problem: string,
): VersionError {
  const message = `${problem}; retrying`
  if (refusesDowngrade) reporter.setCondition({ type: condition, status: 'False', reason: REASONS.failed, message })
  return new VersionError(message)
}

function store(reporter: DynaKubeReporter, { component }: Target, found: Partial<VersionStatus>): void {
  if (component === 'activeGate') updateActiveGate(reporter, found)
  else if (component === 'codeModules') reporter.update({ codeModules: { ...reporter.status?.codeModules, ...found } })
  else {
    updateOneAgent(reporter, found)
    updateOneAgent(reporter, { healthcheck: healthCheckOf(reporter.status?.oneAgent?.version) })
  }
}

const NOTHING = {
  imageID: undefined,
  version: undefined,
  source: undefined,
  type: undefined,
  lastProbeTimestamp: undefined,
}

/** Removes a version from the status. */
export function clearVersion(reporter: DynaKubeReporter, component: VersionedComponent): void {
  if (reporter.status?.[component]?.source === undefined) return
  if (component === 'activeGate') updateActiveGate(reporter, NOTHING)
  else if (component === 'codeModules') reporter.update({ codeModules: undefined })
  else updateOneAgent(reporter, { ...NOTHING, healthcheck: undefined })
}

const SECOND = 1_000_000_000

/** The health check of an agent image. Durations are in nanoseconds. */
export function healthCheckOf(version: string | undefined) {
  const Test = isOlderThan(version, 1, 276)
    ? ['/bin/sh', '-c', 'grep -q oneagentwatchdo /proc/[0-9]*/stat']
    : ['/usr/bin/watchdog-healthcheck64']
  return { Test, Interval: 10 * SECOND, Timeout: 30 * SECOND, StartPeriod: 1200 * SECOND, Retries: 3 }
}
