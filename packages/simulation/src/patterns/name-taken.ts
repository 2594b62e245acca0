/** An object of another owner has the name of one that the operator creates. */

import { explanationProblems } from '../judge/explanation.ts'
import type { OperatorUnderTest, PlainObject } from '../operator-under-test.ts'
import type { RunControl } from '../run/run-options.ts'
import { type Disturbance, PASS } from '../world/disturbance.ts'
import { ForeignObject, type ForeignOwner } from '../world/foreign-object.ts'
import { matchesId, objectId } from '../world/request-facts.ts'
import { deleteAsSomebody, read, targetOf } from '../world/targets.ts'
import { type Fault, type Pattern, type PatternContext, pointOf } from './pattern.ts'

/** How long it stays in the way before the status is read: a few retries. */
const IN_THE_WAY_MS = 120_000

/** How the foreign object is created. */
type When = 'before the start' | 'just before it is created' | 'in its place later' | 'from the start to the end'

const VARIANTS: readonly { readonly when: When; readonly owner: ForeignOwner; readonly hasLabels: boolean }[] = [
  { when: 'before the start', owner: 'nobody', hasLabels: false },
  { when: 'before the start', owner: 'someone else', hasLabels: true },
  { when: 'just before it is created', owner: 'nobody', hasLabels: true },
  { when: 'in its place later', owner: 'someone else', hasLabels: true },
  { when: 'from the start to the end', owner: 'nobody', hasLabels: true },
]

/** Beside each object of the operator exists another one with its labels: it does not become the operator's by them. */
const LOOK_ALIKES = (['nobody', 'someone else'] as const).map(
  (owner) => ({ when: 'from the start to the end', owner, hasLabels: true }) as const,
)

/** Each object that the operator creates exists already, or is created concurrently, and has another owner. */
export const nameTaken: Pattern = {
  name: 'name-taken',
  title: 'a foreign object has the name',
  coverage: 'exhaustive',
  async points(context) {
    const { operator } = context
    const { world, baseline } = await context.undisturbed('alone')
    return [...world.ledger.created].flatMap(([id, object]) => {
      const step = baseline.snapshots.findIndex((snapshot) => snapshot.has(id))
      const isDrawn = baseline.chosen.idOf(id) !== id
      const isDeclared = operator.crds.some(({ name }) => id.startsWith(`${name} `))
      if (step < 0 || isDeclared || isAdopted(operator, id)) return []
      const lookAlikes = LOOK_ALIKES.flatMap((variant) => {
        const taken = lookAlike({ id, object, step, ...variant })
        return taken === undefined ? [] : [pointOf(context, faultOf(context, taken))]
      })
      if (isDrawn) return lookAlikes
      // Objects that a tool outside creates are not observed, and need not be watched afterwards.
      const isRequested = world.log.requests.some((request) => isCreation(request.verb) && objectId(request) === id)
      const variants = VARIANTS.filter(
        ({ when }) => isRequested || when.startsWith('before') || when.startsWith('from'),
      )
      return [
        ...variants.map((variant) => pointOf(context, faultOf(context, { id, object, step, ...variant }))),
        ...lookAlikes,
      ]
    })
  },
}

interface Taken {
  readonly id: string
  readonly object: PlainObject
  /** The first step after which the object exists. */
  readonly step: number
  readonly when: When
  readonly owner: ForeignOwner
  readonly hasLabels: boolean
  /** It has the labels of an object of the operator, and another name. @default false */
  readonly isLookAlike?: boolean
}

/** The same under another name, of an object that has labels. */
function lookAlike(taken: Taken): Taken | undefined {
  const { name, labels, ...metadata } = taken.object.metadata as { readonly name: string; readonly labels?: object }
  if (Object.keys(labels ?? {}).length === 0) return undefined
  const suffix = '-look-alike'
  const object = { ...taken.object, metadata: { ...metadata, labels, name: `${name}${suffix}` } }
  return { ...taken, id: `${taken.id}${suffix}`, object, isLookAlike: true }
}

function faultOf({ operator, scenario }: PatternContext, taken: Taken): Fault {
  const { id, when, owner, hasLabels } = taken
  const [resource = ''] = id.split(' ')
  const kind = `${owner === 'nobody' ? 'without an owner' : 'with another owner'}${hasLabels ? '' : ', without labels'}`
  const isToTheEnd = when === 'from the start to the end'
  return {
    label: `${id} exists ${when}, ${kind}`,
    shape: { coarse: `${resource} ${taken.isLookAlike ? 'with the same labels' : when}`, fine: id },
    mode: 'alone',
    options: {
      comparesTimes: false,
      countsWrites: false,
      // Up to then, the foreign object itself is the difference.
      comparesFrom: taken.step,
      ...(isToTheEnd && { comparesFrom: Number.POSITIVE_INFINITY, rests: false, endsEmpty: true }),
    },
    disturb: (control) =>
      isToTheEnd
        ? inTheWayToTheEnd(operator, taken, scenario.steps.length, control)
        : inTheWayForAWhile(operator, taken, control),
  }
}

function inTheWayForAWhile(operator: OperatorUnderTest, taken: Taken, control: RunControl): Disturbance {
  const { id, step, when } = taken
  const { world } = control
  const foreign = new ForeignObject(world, taken)
  const place = async () => {
    if (await foreign.create()) control.fault(`${id} is there and belongs to ${taken.owner}`)
  }
  const waitAndRemove = async () => {
    await world.clock.advance(IN_THE_WAY_MS)
    if (!foreign.isThere) {
      await foreign.remove()
      return
    }
    for (const { kind, message } of explanationProblems(world, operator, id)) control.problem(kind, message)
    control.note(`${id} is removed by its owner`)
    await foreign.remove()
  }
  if (when === 'in its place later') {
    return {
      onStepEnd: async (ended) => {
        if (ended !== step) return
        await deleteAsSomebody(world, targetOf(id))
        if (read(world, targetOf(id)) === undefined) await place()
        await waitAndRemove()
      },
    }
  }
  let isCome = false
  return {
    ...(when === 'before the start' && { onStart: place }),
    onRequest: async (request) => {
      if (when !== 'just before it is created' || isCome) return PASS
      if (!isCreation(request.verb) || objectId(request) !== id || request.subresource !== undefined) return PASS
      isCome = true
      await place()
      return PASS
    },
    onActed: async (acted) => {
      if (acted === step) await waitAndRemove()
    },
  }
}

/** Everything declared is deleted while it is in the way: it has to survive that, and not to hold it up. */
function inTheWayToTheEnd(
  operator: OperatorUnderTest,
  taken: Taken,
  lastStep: number,
  { world, fault, problem }: RunControl,
): Disturbance {
  const foreign = new ForeignObject(world, taken)
  return {
    onStart: async () => {
      if (await foreign.create()) fault(`${taken.id} is there and belongs to ${taken.owner}`)
    },
    onStepEnd: async (ended) => {
      if (ended !== lastStep) return
      await world.clock.advance(IN_THE_WAY_MS)
      const left = operator.crds.flatMap(({ name }) => world.cluster.api.list(name).map(() => name))
      if (left[0] !== undefined)
        problem('goal-not-reached', `${left[0]} cannot be deleted as long as ${taken.id} of someone else exists`)
    },
  }
}

/** An apply creates what does not exist. */
function isCreation(verb: string): boolean {
  return verb === 'create' || verb === 'patch'
}

function isAdopted({ adopts = [], sharedObjects = [] }: OperatorUnderTest, id: string): boolean {
  const isShared = sharedObjects.some(({ resource, fields }) => id.startsWith(`${resource} `) && fields.includes('*'))
  return isShared || adopts.some((pattern) => matchesId(pattern, id))
}
