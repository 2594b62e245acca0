/** Whether an operator that is stuck says why. */
import type { OperatorUnderTest, PlainObject } from '../operator-under-test.ts'
import type { World } from '../world/world.ts'
import { canExplain, whyNotSettled } from './goal.ts'
import { type Problem, problem } from './problem.ts'

/**
 * While an object of someone else is in the way, a declared object must not claim to be ready, and its status or a
 * Warning event must name the obstacle. A resource whose status has no field for it is not checked.
 *
 * @param id what is in the way, such as `configmaps default/shop`
 */
export function explanationProblems(world: World, operator: OperatorUnderTest, id: string): readonly Problem[] {
  const declared = declaredIn(world, operator)
  const telling = declared.filter(({ crd }) => operator.goal !== undefined || canExplain(crd))
  if (telling.length === 0) return []
  const unsettled = telling.filter(
    ({ crd, object }) => (operator.goal?.(object) ?? whyNotSettled(crd, object)) !== undefined,
  )
  if (unsettled.length === 0)
    return [
      problem(
        'unexplained',
        `every declared object says that it reached its goal although ${id} belongs to someone else`,
      ),
    ]
  const name =
    id
      .slice(id.lastIndexOf('/') + 1)
      .split(' ')
      .at(-1) ?? ''
  const statuses = unsettled.map(({ object }) => JSON.stringify(object.status ?? {}))
  if ([...statuses, ...warnings(world)].some((text) => text.includes(name))) return []
  return [problem('unexplained', `neither a status nor a Warning event says that ${id} is in the way`)]
}

/** Whether a declared object, or a Warning event, says that something is wrong. */
export function explains(world: World, operator: OperatorUnderTest): boolean {
  const unsettled = declaredIn(world, operator).filter(
    ({ crd, object }) => canExplain(crd) && object.status !== undefined && whyNotSettled(crd, object) !== undefined,
  )
  return unsettled.length > 0 || warnings(world).length > 0
}

function declaredIn(world: World, { crds }: OperatorUnderTest) {
  return crds.flatMap((crd) =>
    world.cluster.api.list(crd.name).map((object) => ({ crd, object: object as PlainObject })),
  )
}

/** Messages of Warning events. */
function warnings(world: World): readonly string[] {
  const served = new Set(world.cluster.api.resources().map(({ resource }) => resource))
  return ['events', 'events.events.k8s.io']
    .filter((resource) => served.has(resource))
    .flatMap((resource) => world.cluster.api.list(resource))
    .filter(({ type }) => type === 'Warning')
    .map(({ message, note }) => String(message ?? note ?? ''))
}
