/** Plans for any operator: its reconcile functions, run on a copy of the cluster until nothing changes. */
import { type Clock, systemClock } from '@reeve/http'
import { type KubeClient, type KubeObject, Namespaces, type Resource, type Stored } from '@reeve/kube'
import { type Logger, type Operator, silentLogger } from '@reeve/runtime'
import { isPaused, noRuntimeWatches, PAUSED_ANNOTATION } from '@reeve/runtime/controller'
import type { DescribedController } from '@reeve/runtime/operator'
import { controllerOf } from '@reeve/runtime/owner-references'
import { compareStates, compareText, newAddresses, type Place, type PlannedChange } from './compare-states.ts'
import { dryRun } from './dry-run.ts'
import type { Plan, PlanFinding, PlannedResource } from './plan.ts'
import { isOf, putManifests } from './put-manifests.ts'
import {
  byIdentity,
  identityOf,
  type ObjectsById,
  ScratchCluster,
  type ScratchOptions,
  titleOf,
} from './scratch-cluster.ts'
import { type Conceal, concealer } from './shown-object.ts'

/** What a plan needs of an operator. */
export type PlannedOperator = Pick<Operator<never>, 'name' | 'describe' | 'crds' | 'webhooks'>

/** The input of a plan. */
export interface PlanOperatorInput {
  /** Objects to apply first, each with its namespace. @default none: what the operator would do now */
  readonly files?: readonly KubeObject[]
  /** Whether files replace what exists, so that what they lack is removed. @default they are applied as by kubectl */
  readonly replaces?: boolean
  /** The objects of the cluster, see `readState`. */
  readonly state: readonly KubeObject[]
  /** Without files: only resources of this namespace. @default all */
  readonly namespace?: string
  /** Without files: only resources of this name. @default all */
  readonly name?: string
  /** Kinds that the cluster does not serve, see `readState`. Those that are read on demand fail then. @default none */
  readonly unserved?: readonly Resource[]
  /** What is particular to the operator. @default nothing */
  readonly additions?: PlanAdditions
  /** The cluster for dry runs. @default no dry runs */
  readonly cluster?: KubeClient
  /** @default the clock of the machine */
  readonly clock?: Clock
  readonly logger?: Logger
  readonly signal: AbortSignal
}

/** What an operator adds to its plans. */
export interface PlanAdditions {
  /** An object of a file in the version of its resource. @default converted by the webhooks of the operator */
  convert?(resource: Resource, object: KubeObject): KubeObject
  /**
   * Called once the files are applied to the scratch cluster, before the controllers run: for objects that only the plan
   * needs. Returns these; they are not part of the plan.
   */
  prepare?(scratch: ScratchCluster): Promise<readonly KubeObject[]>
  /** @default what every plan conceals */
  readonly conceal?: Conceal
  /** Whether a field only repeats that others differ, such as a hash of all of them. @default none does */
  isEcho?(path: string): boolean
  /** The resource and component of objects. @default the resource that is the object, or that controls it */
  placesIn?(states: { readonly before: ObjectsById; readonly after: ObjectsById }): (object: KubeObject) => Place
  /** Components in the order in which they are shown. @default by name */
  readonly componentOrder?: readonly string[]
  /** What to report about a resource that did not fail, from its planned status. @default nothing */
  inspect?(
    object: Stored<KubeObject>,
  ): Pick<PlannedResource, 'versions'> & { readonly findings?: readonly PlanFinding[] }
}

/** A controller may have effects outside the cluster, which a plan must not cause. */
export class PlanRefusedError extends Error {
  readonly code = 'PLAN_REFUSED'
  override readonly name = 'PlanRefusedError'

  constructor({ name }: DescribedController) {
    super(
      `the controller ${name} may act outside the cluster, so it is not run for a plan; ` +
        'set plannable: true in its definition if it does not',
    )
  }
}

/** A controller that never settles. */
const MAX_ROUNDS = 10

/** What is planned for. */
interface Target {
  readonly controller: DescribedController
  readonly object: Stored<KubeObject>
}

/**
 * Plans for resources in files, or for those of the cluster.
 *
 * *Guarantees*: the cluster receives dry runs only.
 * *Errors*: {@link PlanRefusedError}, those of the cluster and of files that it rejects. The failure of a resource
 * is among the findings.
 *
 * @example
 * const { changes } = await planOperator(greeter, { files, state, signal })
 */
export async function planOperator(operator: PlannedOperator, input: PlanOperatorInput): Promise<Plan> {
  const { files = [], replaces = false, state, unserved = [], additions = {}, cluster, signal } = input
  const { convert, conceal = concealer(), isEcho } = additions
  const controllers = operator.describe()
  const kinds = kindsOf(controllers, unserved)
  // Time stands still, so that every round sees the same and a plan can be repeated.
  const nowMs = (input.clock ?? systemClock).now()
  const clock: Clock = { ...systemClock, now: () => nowMs }
  const { name: fieldManager } = operator
  const sources = controllers.flatMap(({ owns, watches, reads }) => [...owns, ...watches, ...reads])
  const crds = operator.crds({ url: WEBHOOKS })
  const callWebhook = callerOf(operator)
  await using scratch = await ScratchCluster.start({ clock, fieldManager, kinds, crds, callWebhook, sources })
  await scratch.adopt(state)
  const before = scratch.objects()
  await putManifests(scratch, files, { kinds, replaces, signal, ...(convert && { convert }) })
  const targets = targetsOf(controllers, scratch.objects(), input)
  const madeUp = new Set((await additions.prepare?.(scratch))?.map(identityOf))
  const { findings, failed } = await rehearse(scratch, targets, { clock, signal, logger: input.logger ?? silentLogger })
  const rehearsed = new Map([...scratch.objects()].filter(([identity]) => !madeUp.has(identity)))
  const live = byIdentity(state)
  const asked = cluster && (await dryRun(cluster, { live, before, after: rehearsed }, { kinds, fieldManager, signal }))
  const own = new Set(targets.map(({ object }) => object.metadata.uid))
  const given = new Set(files.map(identityOf))
  const { changes, unchanged } = compareStates({
    before,
    after: asked?.after ?? rehearsed,
    // Objects name their owners by the uids of the scratch cluster.
    placeOf: additions.placesIn?.({ before, after: rehearsed }) ?? places(controllers, before, rehearsed),
    counts: (object) => given.has(identityOf(object)) || own.has(controllerOf(object)?.uid ?? ''),
    unknown: newAddresses(before, rehearsed),
    conceal,
    ...(isEcho && { isEcho }),
  })
  const reports = targets.map(({ object }) => {
    const planned = rehearsed.get(identityOf(object))
    const { versions, findings: own = [] } = (planned && additions.inspect?.(planned)) ?? {}
    const resource = { ...describe(object), ...(versions && { versions }) }
    return { resource, findings: failed.has(identityOf(object)) ? [] : own }
  })
  return {
    resources: reports.map(({ resource }) => resource),
    changes: [...changes].sort(byPlace(additions.componentOrder ?? [])),
    unchanged,
    findings: [...findings, ...reports.flatMap((report) => report.findings), ...(asked?.findings ?? [])],
  }
}

/** A name for the operator's webhooks, which are called in process. */
const WEBHOOKS = 'https://operator.invalid'

/** Calls the operator's own webhooks; a scratch cluster knows no others. */
function callerOf({ webhooks }: PlannedOperator): NonNullable<ScratchOptions['callWebhook']> {
  return ({ url, review, signal }) => {
    const { pathname } = new URL(url)
    // The copy because handlers freeze what they get.
    return webhooks.find(({ path }) => path === pathname)?.respond(structuredClone(review), signal)
  }
}

/**
 * Each kind once; namespaces first, because the others need them. Without kinds on demand that are not served: a controller
 * has to meet that, too.
 */
function kindsOf(controllers: readonly DescribedController[], unserved: readonly Resource[]): readonly Resource[] {
  const kinds = [
    Namespaces,
    ...controllers.flatMap(({ resource, owns, watches, reads, engine }) => [
      ...[...watches, ...reads, ...owns].map((source) => source.resource),
      ...(engine?.onDemand ?? []).filter((kind) => !unserved.some((one) => isSameKind(one, kind))),
      resource,
    ]),
  ]
  return [...new Map(kinds.map((kind) => [`${kind.group}/${kind.plural}`, kind])).values()]
}

const isSameKind = (left: Resource, right: Resource): boolean =>
  left.group === right.group && left.plural === right.plural

function targetsOf(
  controllers: readonly DescribedController[],
  objects: ObjectsById,
  { files = [], namespace, name }: PlanOperatorInput,
): readonly Target[] {
  const given = new Set(files.map(identityOf))
  const isMeant = (object: KubeObject) =>
    files.length > 0
      ? given.has(identityOf(object))
      : (namespace === undefined || object.metadata.namespace === namespace) &&
        (name === undefined || object.metadata.name === name)
  return controllers.flatMap((controller) => {
    const found = [...objects.values()].filter((object) => isOf(controller.resource, object) && isMeant(object))
    if (found.length > 0 && !controller.isPlannable) throw new PlanRefusedError(controller)
    return found.map((object) => ({ controller, object }))
  })
}

/** What happened in a rehearsal besides writes. */
interface Rehearsal {
  readonly findings: readonly PlanFinding[]
  /** Identities of the resources whose last reconcile failed. */
  readonly failed: ReadonlySet<string>
}

/** Reconciles round by round until a round writes nothing. */
async function rehearse(
  scratch: ScratchCluster,
  targets: readonly Target[],
  options: { readonly clock: Clock; readonly signal: AbortSignal; readonly logger: Logger },
): Promise<Rehearsal> {
  const skipped = targets.flatMap(({ object }) => skippedBecause(object))
  const planned = targets.filter(({ object }) => skippedBecause(object).length === 0)
  for (let round = 1; ; round += 1) {
    const writesBefore = scratch.writes
    const failures = new Map<string, PlanFinding>()
    const fail = ({ object }: Target, message: string) =>
      failures.set(identityOf(object), { severity: 'error', object: titleOf(object), message })
    for (const target of planned) {
      try {
        await reconcile(scratch, target, options)
      } catch (error) {
        options.signal.throwIfAborted()
        if (!(error instanceof Error)) throw error
        fail(target, error.message)
      }
    }
    const isSettled = scratch.writes === writesBefore
    if (!isSettled && round < MAX_ROUNDS) continue
    if (!isSettled && failures.size === 0) {
      for (const target of planned) {
        fail(target, `still changes after ${MAX_ROUNDS} reconciles; the plan shows the state by then`)
      }
    }
    return { findings: [...skipped, ...failures.values()], failed: new Set(failures.keys()) }
  }
}

function skippedBecause(object: KubeObject): readonly PlanFinding[] {
  const note = (message: string): readonly PlanFinding[] => [{ severity: 'note', object: titleOf(object), message }]
  if (object.metadata.deletionTimestamp !== undefined) return note('is being deleted: its clean-up is not planned')
  return isPaused(object) ? note(`is paused by the annotation ${PAUSED_ANNOTATION}`) : []
}

async function reconcile(
  { client, view }: ScratchCluster,
  { controller, object }: Target,
  options: { readonly clock: Clock; readonly signal: AbortSignal; readonly logger: Logger },
): Promise<void> {
  const { namespace, name } = object.metadata
  const key = namespace === undefined ? { name } : { namespace, name }
  await controller.reconcile({
    ...options,
    key,
    object: view.get(controller.resource, key),
    reasons: [],
    attempt: 1,
    reconcileId: 'plan',
    client,
    cache: view,
    // Events are about what happened, and nothing does.
    events: { record: () => undefined },
    watches: noRuntimeWatches,
    stage: (_name, run) => run(),
  })
}

/** The resource that an object belongs to: itself, or the one that controls it. */
function places(
  controllers: readonly DescribedController[],
  before: ObjectsById,
  after: ObjectsById,
): (object: KubeObject) => Place {
  const byUid = new Map([...before.values(), ...after.values()].map((object) => [object.metadata.uid, object]))
  const isPrimary = (object: KubeObject) => controllers.some(({ resource }) => isOf(resource, object))
  return (object) => {
    const owner = isPrimary(object) ? object : byUid.get(controllerOf(object)?.uid ?? '')
    return owner === undefined ? {} : { owner: titleOf(owner) }
  }
}

function describe({ kind, metadata: { namespace, name } }: Stored<KubeObject>) {
  return { kind, ...(namespace !== undefined && { namespace }), name }
}

/** By resource, then component; within a component in the order of kinds and names. */
function byPlace(order: readonly string[]) {
  const rankOf = ({ component = '' }: PlannedChange) => {
    const index = order.indexOf(component)
    return index < 0 ? order.length : index
  }
  const textOf = ({ kind, namespace = '', name }: PlannedChange) => `${kind} ${namespace}/${name}`
  return (left: PlannedChange, right: PlannedChange): number =>
    compareText(left.owner ?? '', right.owner ?? '') ||
    rankOf(left) - rankOf(right) ||
    compareText(textOf(left), textOf(right))
}
