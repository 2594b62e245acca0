/** Plans for any operator: its reconcile functions, run on a copy of the cluster until nothing changes. */
import {
  type Clock,
  type KubeClient,
  type KubeObject,
  Namespaces,
  type Resource,
  type Stored,
  systemClock,
} from '@reeve/kube'
import { type Logger, type Operator, silentLogger } from '@reeve/runtime'
import { isPaused, PAUSED_ANNOTATION } from '@reeve/runtime/controller'
import type { DescribedController } from '@reeve/runtime/operator'
import { controllerOf } from '@reeve/runtime/owner-references'
import { compareStates, compareText, newAddresses, type Place, type PlannedChange } from './compare-states.ts'
import { dryRun } from './dry-run.ts'
import type { Plan, PlanFinding } from './plan.ts'
import { isOf, putManifests } from './put-manifests.ts'
import { byIdentity, identityOf, type ObjectsById, ScratchCluster, titleOf } from './scratch-cluster.ts'
import { concealer } from './shown-object.ts'

/** What a plan needs of an operator. */
export type PlannedOperator = Pick<Operator<never>, 'name' | 'describe' | 'crds'>

/** The input of a plan. */
export interface PlanOperatorInput {
  /** Objects to apply first, each with its namespace. @default none: what the operator would do now */
  readonly files?: readonly KubeObject[]
  /** The objects of the cluster, see `readState`. */
  readonly state: readonly KubeObject[]
  /** Without files: only resources of this namespace. @default all */
  readonly namespace?: string
  /** Without files: only resources of this name. @default all */
  readonly name?: string
  /** The cluster for dry runs. @default no dry runs */
  readonly cluster?: KubeClient
  /** @default the clock of the machine */
  readonly clock?: Clock
  readonly logger?: Logger
  readonly signal: AbortSignal
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
  const { files = [], state, cluster, signal } = input
  const controllers = operator.describe()
  const kinds = kindsOf(controllers)
  // Time stands still, so that every round sees the same and a plan can be repeated.
  const nowMs = (input.clock ?? systemClock).now()
  const clock: Clock = { ...systemClock, now: () => nowMs }
  const { name: fieldManager } = operator
  const sources = controllers.flatMap(({ owns, watches, reads }) => [...owns, ...watches, ...reads])
  await using scratch = await ScratchCluster.start({ clock, fieldManager, kinds, crds: operator.crds(), sources })
  await scratch.adopt(state)
  const before = scratch.objects()
  await putManifests(scratch, files, { kinds, signal })
  const targets = targetsOf(controllers, scratch.objects(), input)
  const findings = await rehearse(scratch, targets, { clock, signal, logger: input.logger ?? silentLogger })
  const rehearsed = scratch.objects()
  const live = byIdentity(state)
  const asked = cluster && (await dryRun(cluster, { live, before, after: rehearsed }, { kinds, fieldManager, signal }))
  const own = new Set(targets.map(({ object }) => object.metadata.uid))
  const given = new Set(files.map(identityOf))
  const { changes, unchanged } = compareStates({
    before,
    after: asked?.after ?? rehearsed,
    placeOf: places(controllers, before, rehearsed),
    counts: (object) => given.has(identityOf(object)) || own.has(controllerOf(object)?.uid ?? ''),
    unknown: newAddresses(before, rehearsed),
    conceal: concealer(),
  })
  return {
    resources: targets.map(({ object }) => describe(object)),
    changes: [...changes].sort(byPlace),
    unchanged,
    findings: [...findings, ...(asked?.findings ?? [])],
  }
}

/** Each kind once; namespaces first, because the others need them. */
function kindsOf(controllers: readonly DescribedController[]): readonly Resource[] {
  const kinds = [
    Namespaces,
    ...controllers.flatMap(({ resource, owns, watches, reads, onDemand }) => [
      ...[...watches, ...reads, ...owns].map((source) => source.resource),
      ...onDemand,
      resource,
    ]),
  ]
  return [...new Map(kinds.map((kind) => [`${kind.group}/${kind.plural}`, kind])).values()]
}

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

/** Reconciles round by round until a round writes nothing. */
async function rehearse(
  scratch: ScratchCluster,
  targets: readonly Target[],
  options: { readonly clock: Clock; readonly signal: AbortSignal; readonly logger: Logger },
): Promise<readonly PlanFinding[]> {
  const skipped = targets.flatMap(({ object }) => skippedBecause(object))
  const planned = targets.filter(({ object }) => skippedBecause(object).length === 0)
  for (let round = 1; ; round += 1) {
    const writesBefore = scratch.writes
    const failures: PlanFinding[] = []
    for (const target of planned) {
      try {
        await reconcile(scratch, target, options)
      } catch (error) {
        options.signal.throwIfAborted()
        if (!(error instanceof Error)) throw error
        failures.push({ severity: 'error', object: titleOf(target.object), message: error.message })
      }
    }
    if (scratch.writes === writesBefore) return [...skipped, ...failures]
    if (round < MAX_ROUNDS) continue
    const message = `still changes after ${MAX_ROUNDS} reconciles; the plan shows the state by then`
    const unsettled = planned.map(({ object }) => ({ severity: 'error', object: titleOf(object), message }) as const)
    return [...skipped, ...(failures.length > 0 ? failures : unsettled)]
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

function byPlace(left: PlannedChange, right: PlannedChange): number {
  const textOf = ({ kind, namespace = '', name }: PlannedChange) => `${kind} ${namespace}/${name}`
  return compareText(left.owner ?? '', right.owner ?? '') || compareText(textOf(left), textOf(right))
}
