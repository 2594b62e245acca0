/** The result of the undisturbed run, with which every other run must agree. */
import { ChosenValues } from '../compare/chosen-values.ts'
import type { Snapshot } from '../compare/snapshot.ts'
import { type Problem, problem } from '../judge/problem.ts'
import type { OperatorUnderTest } from '../operator-under-test.ts'
import type { Numbering } from '../world/run-log.ts'
import type { World } from '../world/world.ts'

/** What a run changed, how often. */
export interface Counts {
  /** Of objects by the operator, by id. */
  readonly creates: ReadonlyMap<string, number>
  readonly deletes: ReadonlyMap<string, number>
  /** Of records outside the cluster. */
  readonly outsideRemovals: ReadonlyMap<string, number>
  readonly managedWrites: number
}

/** Counts what happened in a run so far. */
export function countsOf({ log, outsideEffects }: World): Counts {
  return {
    creates: log.countByObject('create'),
    deletes: log.countByObject('delete'),
    outsideRemovals: new Map(outsideEffects.removals),
    managedWrites: log.managedWrites.length,
  }
}

/** The undisturbed run, without its world. */
export interface Baseline extends Counts {
  /** One per step, of everything in the cluster and outside, after the state settled. */
  readonly snapshots: readonly Snapshot[]
  /** What the operator wrote, and what users declare. */
  readonly resources: ReadonlySet<string>
  /** How long each step took until nothing was written, in virtual milliseconds. */
  readonly durationsMs: readonly number[]
  /** The longest time in which nothing was written before more was. */
  readonly longestPauseMs: number
  /** Creations by users, of what the operator may create as well: in another run it may be the first to do so. */
  readonly userCreates: ReadonlyMap<string, number>
  /** What is generated anew in every run. */
  readonly chosen: ChosenValues
  /** The numbers of requests and events, where runs are not equal. */
  readonly numbering: Numbering | undefined
}

/** What the cluster's own controllers create under random names, or update forever. */
export const VOLATILE: ReadonlySet<string> = new Set([
  'pods',
  'replicasets.apps',
  'controllerrevisions.apps',
  'endpoints',
  'endpointslices.discovery.k8s.io',
  'nodes',
  'customresourcedefinitions.apiextensions.k8s.io',
])

/** Resources that users declare or the operator writes; of volatile ones only what the operator made counts. */
export function resourcesOf(world: World, operator: OperatorUnderTest): ReadonlySet<string> {
  const declared = operator.crds.map(({ name }) => name)
  const written = world.log.managedWrites.map(({ resource }) => resource)
  return new Set([...declared, ...written].filter((resource) => !VOLATILE.has(resource)))
}

/** What an undisturbed run leaves to compare with. */
export function baselineOf(
  world: World,
  operator: OperatorUnderTest,
  taken: Pick<Baseline, 'snapshots' | 'durationsMs' | 'longestPauseMs' | keyof Counts>,
): Baseline {
  return {
    ...taken,
    resources: resourcesOf(world, operator),
    userCreates: world.ledger.createdBy('user'),
    chosen: ChosenValues.none,
    numbering: world.log.numbering,
  }
}

/** What is compared: outside the cluster everything, inside it what the operator writes in one of the two runs. */
export function inScope(snapshot: Snapshot, resources: ReadonlySet<string>, made: ReadonlySet<string>): Snapshot {
  const isCompared = (id: string) => id.startsWith('outside ') || made.has(id) || resources.has(id.split(' ')[0] ?? '')
  return new Map([...snapshot].filter(([id]) => isCompared(id)))
}

/** How much more often than undisturbed an object may be created and deleted. */
export interface AllowedRepetitions {
  readonly extraCreates: number
  /**
   * Further creations of objects that the operator does not delete more often, too: the garbage collector may have deleted
   * them. @default 0
   */
  readonly racingCreates?: number
  readonly extraDeletes: number
  /** The same outside the cluster. */
  readonly extraRemovals: number
}

/** Objects that were created or deleted more often than undisturbed, and too many writes in all. */
export function repeatedWrites(
  counts: Counts,
  expected: Baseline,
  { extraCreates, racingCreates = 0, extraDeletes, extraRemovals }: AllowedRepetitions,
): readonly Problem[] {
  const counted = (counts: ReadonlyMap<string, number>) => {
    const byId = new Map<string, number>()
    for (const [id, count] of counts) {
      const stable = expected.chosen.idOf(id)
      byId.set(stable, (byId.get(stable) ?? 0) + count)
    }
    return byId
  }
  const userCreates = counted(expected.userCreates)
  const [deletes, usualDeletes] = [counted(counts.deletes), counted(expected.deletes)]
  /** What the operator deleted by itself and made again was replaced for nothing. */
  const racing = (id: string) => ((deletes.get(id) ?? 0) > (usualDeletes.get(id) ?? 0) ? 0 : racingCreates)
  const repeated = (
    what: 'created' | 'deleted' | 'removed',
    actual: ReadonlyMap<string, number>,
    undisturbed: ReadonlyMap<string, number>,
    extraOf: (id: string) => number,
  ) => {
    const usually = counted(undisturbed)
    return [...counted(actual)].flatMap(([id, count]) => {
      const usual = usually.get(id) ?? 0
      const instead = what === 'created' ? (userCreates.get(id) ?? 0) : 0
      if (count <= usual + instead + extraOf(id)) return []
      const kind = what === 'removed' ? 'removed-outside' : 'repeated-write'
      return [problem(kind, `${what} ${id} ${count} times, ${usual} times in the undisturbed run`)]
    })
  }
  // A duplicate that is made after a fault may be removed; what the undisturbed run has may not.
  const lasting = new Set(expected.snapshots.flatMap((snapshot) => [...snapshot.keys()]))
  const removed = [...counts.outsideRemovals].filter(([id]) => lasting.has(id))
  const isFlood = counts.managedWrites > 2 * expected.managedWrites + 20
  return [
    ...repeated('created', counts.creates, expected.creates, (id) => extraCreates + racing(id)),
    ...repeated('deleted', counts.deletes, expected.deletes, () => extraDeletes),
    ...repeated('removed', new Map(removed), expected.outsideRemovals, () => extraRemovals),
    ...(isFlood
      ? [problem('repeated-write', `${counts.managedWrites} writes, ${expected.managedWrites} in the undisturbed run`)]
      : []),
  ]
}
