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
import { isImage } from '../../../rendering/image.ts'
import { CONDITIONS, REASONS } from '../../condition-types.ts'
import type { Pass } from '../../resolve/pass.ts'
import type { StatusDraft } from '../../status-draft.ts'
import { reported } from '../connection/connection-info.ts'
import { compareAgentVersions, isOlderThan, parseAgentVersion } from './agent-version.ts'

type VersionStatus = NonNullable<DynaKubeStatus['codeModules']>

/** What differs between the components. */
interface Target {
  readonly component: VersionedComponent
  readonly condition: string
  isAutoUpdated(dynakube: DynaKube): boolean
  customImage(dynakube: DynaKube, hasCsiDriver: boolean): string
  publicImage(pass: Pass): Promise<PublicImage>
  latestVersion(pass: Pass): Promise<string>
  /** The image in the registry of the tenant; empty for what is downloaded instead. */
  tenantImage(dynakube: DynaKube, version: string): string
  readonly refusesDowngrade: boolean
}

const TARGETS: Readonly<Record<VersionedComponent, Target>> = {
  oneAgent: {
    component: 'oneAgent',
    condition: CONDITIONS.oneAgentVersion,
    isAutoUpdated: isOneAgentAutoUpdated,
    customImage: customOneAgentImage,
    publicImage: ({ tenant, signal }) => tenant.images.oneAgent({ signal }),
    latestVersion: ({ tenant, signal }) => tenant.versions.latestAgent(hostInstaller, { signal }),
    tenantImage: defaultOneAgentImage,
    refusesDowngrade: true,
  },
  codeModules: {
    component: 'codeModules',
    condition: CONDITIONS.codeModulesVersion,
    isAutoUpdated: () => true,
    customImage: customCodeModulesImage,
    publicImage: ({ tenant, signal }) => tenant.images.codeModules({ signal }),
    latestVersion: ({ tenant, signal }) => tenant.versions.latestAgent(codeModules(), { signal }),
    tenantImage: () => '',
    refusesDowngrade: false,
  },
  activeGate: {
    component: 'activeGate',
    condition: CONDITIONS.activeGateVersion,
    isAutoUpdated: (dynakube) => featureFlags(dynakube).activeGateUpdates,
    customImage: ({ spec }) => spec.activeGate?.image ?? '',
    publicImage: ({ tenant, signal }) => tenant.images.activeGate({ signal }),
    latestVersion: ({ tenant, signal }) => tenant.versions.latestGateway({ signal }),
    tenantImage: defaultActiveGateImage,
    refusesDowngrade: false,
  },
}

/** A version that cannot be judged. */
export class VersionError extends Error {
  readonly code = 'VERSION_UNREADABLE'
  override readonly name = 'VersionError'
}

/**
 * Decides the version of a component and keeps it in the status.
 *
 * *Guarantees*: a failing tenant does not take away the version that runs. *Errors*: errors of the tenant
 * when there is no version yet.
 *
 * @example
 * await resolveVersion(pass, 'oneAgent')
 */
export async function resolveVersion(pass: Pass, component: VersionedComponent): Promise<void> {
  const target = TARGETS[component]
  const { draft } = pass
  const source = versionSource(draft.dynakube, component, pass.operator.hasCsiDriver)
  if (!isDue(pass, target, source)) return
  try {
    const found = await find(pass, target, source)
    store(pass, target, { ...found, source, lastProbeTimestamp: formatTime(pass.clock.now()) })
  } catch (error) {
    pass.signal.throwIfAborted()
    const { imageID, version } = draft.status[component] ?? {}
    if (!imageID && !version) throw error
    // A flaky tenant must not stop agents that run.
    pass.logger.warn({ component, err: error }, 'the version could not be looked up, the last one stays')
  }
}

function isDue({ draft, operator, clock }: Pass, target: Target, source: VersionSource): boolean {
  const { dynakube } = draft
  const stored = dynakube.status[target.component] ?? {}
  if (stored.source !== source) return true
  if (source === 'custom-image' && !isImage(stored.imageID, target.customImage(dynakube, operator.hasCsiDriver))) {
    return true
  }
  if (source === 'custom-version' && stored.version !== customVersion(dynakube)) return true
  return isApiRequestAllowed(dynakube, stored.lastProbeTimestamp, clock.now())
}

/** What the status says besides source and time; empty when it stays as it is. */
async function find(pass: Pass, target: Target, source: VersionSource): Promise<Partial<VersionStatus>> {
  const { draft, operator } = pass
  const { dynakube } = draft
  const stored = dynakube.status[target.component] ?? {}
  if (source === 'custom-image') {
    draft.set(target.condition, 'True', REASONS.verificationSkipped, 'The image is the one that was asked for')
    return { imageID: target.customImage(dynakube, operator.hasCsiDriver), version: CUSTOM_IMAGE_VERSION }
  }
  const isFrozen = !target.isAutoUpdated(dynakube) && source !== 'custom-version'
  if (isFrozen && stored.version && stored.source === source) return {}
  const found = source === 'public-registry' ? await findPublic(pass, target) : await findInTenant(pass, target, source)
  if (target.refusesDowngrade && isDowngrade(pass, target, found.version)) return {}
  const isSkipped = target.component === 'codeModules' && source === 'custom-version'
  const reason = isSkipped ? REASONS.verificationSkipped : REASONS.verified
  draft.set(target.condition, 'True', reason, `Version ${found.version}`)
  return found
}

type Found = Required<Pick<VersionStatus, 'imageID' | 'version'>>

async function findPublic(pass: Pass, target: Target): Promise<Found> {
  const image = await reported(pass, target.condition, () => target.publicImage(pass))
  return { imageID: imageUri(image), version: image.tag }
}

async function findInTenant(pass: Pass, target: Target, source: VersionSource): Promise<Found> {
  const { dynakube } = pass.draft
  const version =
    source === 'custom-version'
      ? customVersion(dynakube)
      : await reported(pass, target.condition, () => target.latestVersion(pass))
  if (version === '') throw unverified(pass, target, `the tenant names no version of ${target.component}`)
  return { imageID: target.tenantImage(dynakube, version), version }
}

/** An older agent cannot read what a newer one left on the node. */
function isDowngrade(pass: Pass, target: Target, found: string): boolean {
  const { draft } = pass
  const { imageID, version = '', source } = draft.status[target.component] ?? {}
  const isComparable = source === 'tenant-registry' || source === 'public-registry'
  if (!imageID || !isComparable) return false
  const [before, after] = [parseAgentVersion(version), parseAgentVersion(found)]
  if (before === undefined || after === undefined) {
    throw unverified(pass, target, `versions "${version}" and "${found}" cannot be compared`)
  }
  if (compareAgentVersions(after, before) >= 0) return false
  const problem = `Version ${found} is older than ${version}, which stays; agents are not downgraded`
  draft.set(target.condition, 'False', REASONS.downgrade, problem)
  return true
}

/** The failure to judge a version. Only agents, which are not downgraded, tell it as such. */
function unverified({ draft }: Pass, { condition, refusesDowngrade }: Target, problem: string): VersionError {
  if (refusesDowngrade) draft.set(condition, 'False', REASONS.verificationFailed, `${problem}; it is asked again`)
  return new VersionError(`${problem}; it is asked again`)
}

function store({ draft }: Pass, { component }: Target, found: Partial<VersionStatus>): void {
  if (component === 'activeGate') draft.updateActiveGate(found)
  else if (component === 'codeModules') draft.update({ codeModules: { ...draft.status.codeModules, ...found } })
  else {
    draft.updateOneAgent(found)
    draft.updateOneAgent({ healthcheck: healthCheckOf(draft.status.oneAgent?.version) })
  }
}

const NOTHING = {
  imageID: undefined,
  version: undefined,
  source: undefined,
  type: undefined,
  lastProbeTimestamp: undefined,
}

/** Takes a version out of the status. */
export function clearVersion(draft: StatusDraft, of: VersionedComponent): void {
  const { component, condition } = TARGETS[of]
  draft.remove(condition)
  if (draft.status[component]?.source === undefined) return
  if (component === 'activeGate') draft.updateActiveGate(NOTHING)
  else if (component === 'codeModules') draft.update({ codeModules: undefined })
  else draft.updateOneAgent({ ...NOTHING, healthcheck: undefined })
}

const SECOND = 1_000_000_000

/** How the image of an agent is asked whether it is well. Durations are in nanoseconds. */
export function healthCheckOf(version: string | undefined) {
  const Test = isOlderThan(version, 1, 276)
    ? ['/bin/sh', '-c', 'grep -q oneagentwatchdo /proc/[0-9]*/stat']
    : ['/usr/bin/watchdog-healthcheck64']
  return { Test, Interval: 10 * SECOND, Timeout: 30 * SECOND, StartPeriod: 1200 * SECOND, Retries: 3 }
}
