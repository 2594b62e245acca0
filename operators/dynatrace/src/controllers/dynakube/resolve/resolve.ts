/** Asks the environment and the cluster for everything that rendering needs, one step after the other. */
import { hasActiveGate } from '../../../api/dynakube/active-gate-facts.ts'
import { databaseExecutorName, namesOf } from '../../../api/dynakube/names.ts'
import type { Component } from '../component.ts'
import { activeGate } from '../components/active-gate/active-gate.ts'
import { pullSecret } from '../components/connection/pull-secret.ts'
import { activeGateTenantSecret, oneAgentTenantSecret } from '../components/connection/tenant-secrets.ts'
import { injection } from '../components/injection/source-secrets.ts'
import { istioForActiveGate, istioForCodeModules } from '../components/istio/istio.ts'
import { kspm } from '../components/kspm/kspm.ts'
import { logMonitoring } from '../components/log-monitoring/log-monitoring.ts'
import { oneAgent } from '../components/one-agent/one-agent.ts'
import type { Material } from '../render-input.ts'
import { resolveAuthToken } from './auth-token.ts'
import { announceCluster, findClusterEntity } from './cluster-entity.ts'
import { NoCommunicationHostsError, resolveActiveGateConnection, resolveOneAgentConnection } from './connection-info.ts'
import { resolveActiveGateCertificate, resolveExtensions, resolveKspm } from './generated.ts'
import type { Pass } from './pass.ts'
import { resolveProcessModules } from './process-modules.ts'
import { resolveCustomProperties, resolveTelemetryCertificate } from './referenced.ts'
import { createLogRule, resolveEnrichmentRules } from './settings.ts'
import { resolveVersion } from './versions.ts'

/** What was found out, and what was not. */
export interface Resolved {
  readonly material: Material
  /** Everything that went wrong; what does not depend on it goes on. */
  readonly failures: readonly Error[]
  /** Components that are left as they are, with the reason. */
  readonly held: ReadonlyMap<Component, Error>
}

/** A step of its own: its failure concerns the components that it names. */
interface Step {
  readonly concerns: readonly Component[]
  /** Left out when this component is held. */
  readonly after?: Component
  run(pass: Pass): Promise<Material | undefined> | Material | undefined
}

const GATEWAY = [activeGateTenantSecret, activeGate, istioForActiveGate]
const AGENT = [oneAgentTenantSecret, logMonitoring, injection, oneAgent, istioForCodeModules]

/** In this order: the entity of the cluster, for instance, appears when the cluster has been announced. */
const STEPS: readonly Step[] = [
  { concerns: GATEWAY, run: resolveActiveGateConnection },
  { concerns: [activeGate], run: (pass) => noMaterial(resolveVersion(pass, 'activeGate')) },
  { concerns: [activeGate], run: ({ draft, view }) => resolveCustomProperties(draft.dynakube, view) },
  // A token that cannot be kept is not asked for: the next look would ask for another one.
  { concerns: [activeGate], after: activeGate, run: resolveAuthToken },
  { concerns: [], after: activeGate, run: (pass) => noMaterial(announced(pass)) },
  { concerns: [], run: (pass) => noMaterial(findClusterEntity(pass)) },
  { concerns: [], run: resolveExtensions },
  { concerns: [], run: ({ draft, view }) => resolveTelemetryCertificate(draft.dynakube, view) },
  { concerns: AGENT, run: resolveOneAgentConnection },
  { concerns: [], run: (pass) => noMaterial(createLogRule(pass)) },
  { concerns: [injection], run: (pass) => noMaterial(resolveVersion(pass, 'codeModules')) },
  { concerns: [injection], run: (pass) => noMaterial(resolveEnrichmentRules(pass)) },
  { concerns: [injection], run: resolveProcessModules },
  { concerns: [oneAgent], run: (pass) => noMaterial(resolveVersion(pass, 'oneAgent')) },
  { concerns: [kspm], run: resolveKspm },
]

/**
 * Runs all steps. A failure of one is kept and the others go on; only a cut pass throws.
 *
 * @example
 * const { material, failures, held } = await resolveAll(pass, { apiToken })
 */
export async function resolveAll(pass: Pass, known: Material): Promise<Resolved> {
  let material: Material = known
  const failures: Error[] = []
  const held = new Map<Component, Error>()
  for (const step of STEPS) {
    if (step.after !== undefined && held.has(step.after)) continue
    try {
      material = { ...material, ...(await step.run(pass)) }
    } catch (error) {
      pass.signal.throwIfAborted()
      if (!(error instanceof Error)) throw error
      for (const component of step.concerns) held.set(component, error)
      if (!(error instanceof NoCommunicationHostsError)) {
        failures.push(error)
        continue
      }
      // Agents have nowhere to go yet: what comes after them waits as well.
      for (const component of [...AGENT, kspm]) held.set(component, error)
      break
    }
  }
  holdPullSecret(pass, held)
  return { material, failures, held }
}

/**
 * What depends on the address of the gateways' Service, which is known only after it was made, and how many executors
 * there are right now: an autoscaler must not be overruled by what was read before the environment was asked.
 */
export async function resolveAddresses(pass: Pass): Promise<Material> {
  const { draft, view } = pass
  const isOn = hasActiveGate(draft.dynakube)
  const addresses = isOn ? view.serviceIPs(namesOf(draft.dynakube).activeGate) : undefined
  const before = draft.status.activeGate?.serviceIPs
  if (addresses?.join() !== before?.join()) {
    draft.updateActiveGate({ serviceIPs: addresses && [...addresses] })
  }
  const certificate = await resolveActiveGateCertificate(pass)
  return { ...certificate, databaseReplicas: databaseReplicas(pass) }
}

/** Announcing is a service to the user: it fails without consequence. */
async function announced(pass: Pass): Promise<void> {
  try {
    await announceCluster(pass)
  } catch (error) {
    pass.signal.throwIfAborted()
    pass.logger.warn({ err: error }, 'the cluster could not be announced to the environment')
  }
}

async function noMaterial(step: Promise<void>): Promise<undefined> {
  await step
}

function databaseReplicas({ draft, view }: Pass): Readonly<Record<string, number>> {
  const databases = draft.dynakube.spec.extensions?.databases ?? []
  const live = databases.map(({ id }) => [id, view.replicas(databaseExecutorName(draft.dynakube, id))] as const)
  return Object.fromEntries(live.filter((entry): entry is readonly [string, number] => entry[1] !== undefined))
}

/** The pull secret names the environment, which both connections tell: it waits when neither did. */
function holdPullSecret({ draft }: Pass, held: Map<Component, Error>): void {
  const { oneAgent: agent, activeGate: gateway } = draft.status
  const isKnown = agent?.connectionInfoStatus?.tenantUUID || gateway?.connectionInfoStatus?.tenantUUID
  const reason = held.get(oneAgentTenantSecret) ?? held.get(activeGateTenantSecret)
  if (!isKnown && reason !== undefined) held.set(pullSecret, reason)
}
