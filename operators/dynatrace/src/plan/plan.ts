/** Plans of the operator: its controllers, run on a copy of the cluster with tenants that are only read. */
import { type Clock, systemClock } from '@reeve/http'
import type { KubeClient, KubeObject, Resource } from '@reeve/kube'
import { type Plan as ClusterPlan, type PlanAdditions, planOperator } from '@reeve/plan'
import type { Logger } from '@reeve/runtime'
import type { OperatorFacts } from '../controllers/dynakube/dependencies.ts'
import { COMPONENT_ORDER, Places } from './components-of.ts'
import { conceal, isEcho } from './conceal.ts'
import { inStoredVersion } from './manifest-objects.ts'
import { rehearsedOperator } from './rehearsed-operator.ts'
import { conditionFindings, simulationNote, unavailableFindings, versionsOf } from './resource-status.ts'
import { simulateTenants } from './simulated-exits.ts'
import type { TenantChange } from './tenant-changes.ts'
import { TenantWatch } from './tenant-watch.ts'
import { type Exits, watchedWorld } from './world.ts'

/** What would happen. Nothing in it is secret. */
export interface Plan extends ClusterPlan {
  /** What would change in tenants. */
  readonly tenant: readonly TenantChange[]
}

/** The input of a plan. */
export interface PlanInput {
  /** The objects of the files, each with its namespace. */
  readonly files: readonly KubeObject[]
  /** The objects of the cluster. */
  readonly state: readonly KubeObject[]
  readonly clusterId: string
  /** Kinds that the cluster does not serve. */
  readonly unserved: readonly Resource[]
  readonly operator: OperatorFacts
  readonly detectsHostAvailability: boolean
  /** How tenants are reached; without it they are simulated. */
  readonly exits?: Exits
  /** The cluster for dry runs. @default no dry runs */
  readonly cluster?: KubeClient
  /** @default the clock of the machine */
  readonly clock?: Clock
  readonly logger?: Logger
  readonly signal: AbortSignal
}

/**
 * Plans for the DynaKubes and EdgeConnects among the files.
 *
 * *Guarantees*: tenants receive questions only, the cluster dry runs only.
 * *Errors*: those of the cluster and of the files; failures of a resource are findings.
 *
 * @example
 * const { changes } = await makePlan({ files, state, unserved, clusterId, operator, detectsHostAvailability, signal })
 */
export async function makePlan(input: PlanInput): Promise<Plan> {
  const { files, state, unserved, clusterId, detectsHostAvailability, cluster, logger, signal } = input
  // Time stands still, so that a plan can be repeated.
  const nowMs = (input.clock ?? systemClock).now()
  const clock: Clock = { ...systemClock, now: () => nowMs }
  const watch = new TenantWatch()
  const tenants = tenantsOf(input, clock)
  const world = watchedWorld(tenants.exits, watch)
  const operator = rehearsedOperator({ ...world, operator: input.operator, clusterId, detectsHostAvailability })
  const additions: PlanAdditions = {
    convert: inStoredVersion,
    prepare: tenants.prepare,
    conceal,
    isEcho,
    placesIn: ({ before, after }) => {
      const places = new Places(files, before, after)
      return (object) => places.of(object)
    },
    componentOrder: COMPONENT_ORDER,
    inspect: (object) => ({ versions: versionsOf(object), findings: conditionFindings(object) }),
  }
  const plan = await planOperator(operator, {
    files,
    state,
    unserved,
    additions,
    clock,
    signal,
    ...(cluster && { cluster }),
    ...(logger && { logger }),
  })
  return {
    ...plan,
    tenant: watch.changes,
    findings: [...tenants.notes(), ...unavailableFindings(watch), ...plan.findings],
  }
}

/** Ways to the tenants; those that are simulated exist as soon as the resources in the scratch cluster are known. */
function tenantsOf(input: PlanInput, clock: Clock) {
  if (input.exits !== undefined) return { exits: input.exits, prepare: async () => [], notes: () => [] }
  let simulation: Awaited<ReturnType<typeof simulateTenants>> | undefined
  const simulated = (): Exits => {
    if (simulation === undefined) throw new Error('tenants are simulated for the resources of a scratch cluster only')
    return simulation.exits
  }
  const exits: Exits = {
    tenant: (options) => simulated().tenant(options),
    platform: (options) => simulated().platform(options),
    registry: () => simulated().registry(),
  }
  const prepare: PlanAdditions['prepare'] = async (scratch) => {
    simulation = await simulateTenants(scratch, clock)
    return simulation.madeUp
  }
  return { exits, prepare, notes: () => [simulationNote(simulation?.madeUp ?? [])] }
}
