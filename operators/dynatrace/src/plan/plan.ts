/** Works out what the operator would do: observe → resolve → render → apply, on a copy of the cluster. */
import { type Clock, type KubeClient, type KubeObject, systemClock } from '@reeve/kube'
import {
  byIdentity,
  compareStates,
  compareText,
  dryRun,
  identityOf,
  newAddresses,
  type ObjectsById,
  type PlanFinding,
  type PlannedChange,
} from '@reeve/plan'
import type { Logger } from '@reeve/runtime'
import { controllerOf } from '@reeve/runtime/owner-references'
import { DynaKubes } from '../api/latest.ts'
import type { OperatorFacts } from '../controllers/dynakube/dependencies.ts'
import { FIELD_MANAGER } from '../controllers/field-manager.ts'
import { COMPONENT_ORDER, Places } from './components-of.ts'
import { conceal, isEcho } from './conceal.ts'
import { putManifests } from './manifest-objects.ts'
import { PLANNED_KINDS, startScratchCluster } from './planned-kinds.ts'
import { type PlannedResource, rehearse } from './rehearse.ts'
import {
  conditionFindings,
  failureFindings,
  simulationNote,
  unavailableFindings,
  versionsOf,
} from './resource-status.ts'
import { simulateTenants } from './simulated-exits.ts'
import type { TenantChange } from './tenant-changes.ts'
import { TenantWatch } from './tenant-watch.ts'
import { type Exits, watchedWorld } from './world.ts'

/** A DynaKube or EdgeConnect, and what it would run. */
export interface ResourceReport extends PlannedResource {
  /** Versions and images by component, as they would stand in the status. */
  readonly versions: Readonly<Record<string, string>>
}

/** What would happen. Nothing in it is secret. */
export interface Plan {
  readonly resources: readonly ResourceReport[]
  /** By resource and component. */
  readonly changes: readonly PlannedChange[]
  /** What would change in tenants. */
  readonly tenant: readonly TenantChange[]
  /** Objects of the resources that stay as they are. */
  readonly unchanged: number
  readonly findings: readonly PlanFinding[]
}

/** What a plan is made from. */
export interface PlanInput {
  /** The objects of the files, each with its namespace. */
  readonly files: readonly KubeObject[]
  /** The objects of the cluster. */
  readonly state: readonly KubeObject[]
  readonly clusterId: string
  /** Whether the cluster serves the kinds of Istio. */
  readonly hasIstio: boolean
  readonly operator: OperatorFacts
  readonly detectsHostAvailability: boolean
  /** How tenants are reached; without it they are simulated. */
  readonly exits?: Exits
  /** The cluster to ask by dry runs. @default the plan is worked out without it */
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
 * *Errors*: those of the cluster and of the files; what goes wrong with a resource is among the findings.
 *
 * @example
 * const { changes } = await makePlan({ files, state, clusterId, hasIstio, operator, detectsHostAvailability, signal })
 */
export async function makePlan(input: PlanInput): Promise<Plan> {
  const { files, signal, cluster, logger } = input
  // Time stands still, so that every round sees the same and a plan can be repeated.
  const nowMs = (input.clock ?? systemClock).now()
  const clock: Clock = { ...systemClock, now: () => nowMs }
  await using scratch = await startScratchCluster(clock, input.hasIstio)
  await scratch.adopt(input.state)
  const before = scratch.objects()
  await putManifests(scratch, files, { signal })
  const { exits, madeUp } = input.exits ? { exits: input.exits, madeUp: [] } : await simulateTenants(scratch, clock)
  const watch = new TenantWatch()
  const resources = resourcesIn(files)
  const { operator, clusterId, detectsHostAvailability } = input
  const world = watchedWorld(exits, watch)
  const failures = await rehearse(scratch, resources, {
    world,
    operator,
    clusterId,
    detectsHostAvailability,
    clock,
    signal,
    ...(logger && { logger }),
  })
  const rehearsed = without(scratch.objects(), madeUp)
  const asked =
    cluster &&
    (await dryRun(
      cluster,
      { live: byIdentity(input.state), before, after: rehearsed },
      { kinds: PLANNED_KINDS, fieldManager: FIELD_MANAGER, signal },
    ))
  const after = asked?.after ?? rehearsed
  // Objects name their owners by the uids of the scratch cluster.
  const places = new Places(files, before, rehearsed)
  const { changes, unchanged } = compareStates({
    before,
    after,
    placeOf: (object) => places.of(object),
    counts: counter(files, resources, rehearsed),
    unknown: newAddresses(before, rehearsed),
    conceal,
    isEcho,
  })
  return {
    resources: resources.map((resource) => ({
      ...resource,
      versions: versionsOf(rehearsed.get(identityOfKey(resource))),
    })),
    changes: [...changes].sort(byPlace),
    tenant: watch.changes,
    unchanged,
    findings: [
      ...(input.exits ? [] : [simulationNote(madeUp)]),
      ...failureFindings(failures),
      ...unavailableFindings(watch),
      ...conditionFindings(resources, failures, (resource) => rehearsed.get(identityOfKey(resource))),
      ...(asked?.findings ?? []),
    ],
  }
}

function resourcesIn(files: readonly KubeObject[]): readonly PlannedResource[] {
  const resources = files.flatMap(({ apiVersion, kind, metadata }): readonly PlannedResource[] => {
    const { namespace = '', name = '' } = metadata
    const isOurs = apiVersion.startsWith(`${DynaKubes.group}/`) && (kind === 'DynaKube' || kind === 'EdgeConnect')
    return isOurs ? [{ kind, namespace, name }] : []
  })
  // A file may name one twice; the last is what stays.
  return [...new Map(resources.map((resource) => [identityOfKey(resource), resource])).values()]
}

const identityOfKey = ({ kind, namespace = '', name }: PlannedResource): string => `${kind}/${namespace}/${name}`

function without(objects: ObjectsById, secrets: readonly { namespace: string; name: string }[]): ObjectsById {
  const left = new Set(secrets.map(({ namespace, name }) => `Secret/${namespace}/${name}`))
  return new Map([...objects].filter(([identity]) => !left.has(identity)))
}

/** Counts what is in the files or belongs to the resources. */
function counter(files: readonly KubeObject[], resources: readonly PlannedResource[], after: ObjectsById) {
  const own = new Set(resources.map((resource) => after.get(identityOfKey(resource))?.metadata.uid))
  const given = new Set(files.map(identityOf))
  return (object: KubeObject) => given.has(identityOf(object)) || own.has(controllerOf(object)?.uid ?? '')
}

/** By resource, then component; tenants apart. Within a component in the order of kinds and names. */
function byPlace(left: PlannedChange, right: PlannedChange): number {
  const rank = ({ component }: PlannedChange) => {
    const index = COMPONENT_ORDER.indexOf(component ?? '')
    return index < 0 ? COMPONENT_ORDER.length : index
  }
  const textOf = ({ kind, namespace = '', name }: PlannedChange) => `${kind} ${namespace}/${name}`
  return (
    compareText(left.owner ?? '', right.owner ?? '') ||
    rank(left) - rank(right) ||
    compareText(textOf(left), textOf(right))
  )
}
