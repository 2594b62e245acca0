/** Someone else writes to the same objects: just before each of the operator's reads and writes, and between two steps. */
import { FailureReader } from '../judge/failures.ts'
import type { Edit, PlainObject } from '../operator-under-test.ts'
import type { RunControl } from '../run/run-options.ts'
import { PASS, type SeamRequest } from '../world/disturbance.ts'
import { ForeignFinalizers } from '../world/foreign-finalizers.ts'
import { at, leaves } from '../world/foreign-marks.ts'
import { describeRequest, isBookkeeping, objectId } from '../world/request-facts.ts'
import { objectsOf, patchAsSomebody, read, type Target, targetOf } from '../world/targets.ts'
import type { World } from '../world/world.ts'
import { type Fault, type Pattern, type PatternContext, pointOf, type Shape } from './pattern.ts'
import { requestShape } from './shapes.ts'

/** After this, someone takes a change of a declared object back. */
const TAKEN_BACK_MS = 1_000

interface Change {
  readonly what: string
  /** Whether there was something to change. */
  readonly act: (control: RunControl, finalizers: ForeignFinalizers) => Promise<boolean>
}

/** The object that is written is labelled and edited, or what it is rendered from is. */
export const foreignWrites: Pattern = {
  name: 'foreign-writes',
  title: 'another client writes, too',
  coverage: 'exhaustive',
  async points(context) {
    const { world } = await context.undisturbed('alone')
    // A scenario may lead to errors without any foreign write.
    const usual = new Set(failuresOf(new FailureReader(world)))
    // What is only deleted keeps nothing of another client; those who write it may be others, such as Helm.
    const changed = world.log.managedWrites.filter(({ verb }) => !verb.startsWith('delete'))
    const written = new Set(changed.map(({ resource }) => resource))
    const struck = world.log.requests
      .filter(({ isWrite, verb, resource }) => isWrite || (verb === 'get' && written.has(resource)))
      .flatMap((request) => changes(context, request).map((change) => justBefore(request, change)))
    return [...struck, ...(await betweenSteps(context))].map((one) => pointOf(context, faultOf(context, one, usual)))
  },
}

/** A change, and when it happens. */
interface Struck {
  readonly change: Change
  readonly label: string
  readonly shape: Shape
  readonly isDue: (happening: { readonly request: number } | { readonly stepEnd: number }) => boolean
}

function justBefore(request: SeamRequest, change: Change): Struck {
  return {
    change,
    label: `another client changes ${change.what} just before request ${request.index} (${describeRequest(request)})`,
    shape: requestShape(request, change.what),
    isDue: (happening) => 'request' in happening && happening.request === request.index,
  }
}

/**
 * What an operator reads from a cache shows in no request, and an object that it finds changed it may replace: whatever it
 * owns is changed after each step but the last, for the next one to find.
 */
async function betweenSteps({ scenario, undisturbed }: PatternContext): Promise<readonly Struck[]> {
  const { world, baseline } = await undisturbed('alone')
  const created = new Set(world.log.countByObject('create').keys())
  return baseline.snapshots.slice(0, -1).flatMap((snapshot, step) =>
    [...snapshot.keys()]
      .filter((id) => created.has(id))
      .map((id): Struck => {
        const resource = id.split(' ')[0] ?? ''
        // What the server adds to an edit of the spec may stay in it for good: that would be a difference.
        const change = changeOfOwned(targetOf(id), undefined)
        return {
          change,
          label: `another client changes ${change.what} after the step "${scenario.steps[step]?.name}"`,
          shape: { coarse: `at rest, ${resource}`, fine: id },
          isDue: (happening) => 'stepEnd' in happening && happening.stepEnd === step,
        }
      }),
  )
}

function faultOf(
  { operator, scenario }: PatternContext,
  { change: { what, act }, label, shape, isDue }: Struck,
  usual: ReadonlySet<string>,
): Fault {
  return {
    label,
    shape,
    mode: 'alone',
    // What is changed and reverted may be recorded with the time of the reversal.
    options: { comparesTimes: false },
    disturb: (control) => {
      const failures = new FailureReader(control.world)
      const finalizers = new ForeignFinalizers(control.world, (cleanUpMs) =>
        control.fault('another client cleans up before it removes its finalizer', cleanUpMs),
      )
      const strike = async () => {
        if (await act(control, finalizers)) control.fault(`another client changes ${what}`)
      }
      return {
        onRequest: async ({ index }) => {
          if (isDue({ request: index })) await strike()
          return PASS
        },
        onStepEnd: async (step) => {
          for (const loss of control.world.foreign.lost(control.world)) control.problem('foreign-write-lost', loss)
          for (const loss of finalizers.lost()) control.problem('foreign-write-lost', loss)
          const expected = [...(operator.expectedErrors ?? []), ...(scenario.steps[step]?.expectedErrors ?? [])]
          const unusual = failuresOf(failures, expected).find((failure) => !usual.has(failure))
          if (unusual !== undefined)
            control.problem('reconcile-error', `a reconcile failed because of a benign change: ${unusual}`)
          if (isDue({ stepEnd: step })) await strike()
        },
      }
    },
  }
}

function failuresOf(reader: FailureReader, expected: readonly RegExp[] = []): readonly string[] {
  const { reconciles, logged } = reader.next((message) => expected.some((pattern) => pattern.test(message)))
  return [...reconciles, ...logged]
}

/** Before a write, of the object that is written and of what it is rendered from; before a read, of what is read. */
function changes({ operator }: PatternContext, request: SeamRequest): readonly Change[] {
  const primary = operator.crds[0]?.name ?? ''
  const editOf = (resource: string) => operator.foreignEdits?.find((edit) => edit.resource === resource)
  const { resource, namespace, name, verb } = request
  const isOwn = name !== undefined && verb !== 'create' && resource !== primary && !isBookkeeping(resource)
  const target = { resource, namespace, name: name ?? '' }
  const isChanged = verb === 'update' || verb === 'patch'
  const held = isChanged && (isOwn || resource === primary) ? [changeOfFinalizers(target)] : []
  const own = isOwn ? [changeOfOwned(target, editOf(resource))] : []
  if (verb === 'get' && resource !== primary) return own
  const edit = editOf(primary)
  const declared: Change = {
    what: `labels, annotations and status of the ${primary}`,
    act: async ({ world }) => {
      const targets = objectsOf(world, primary)
      for (const target of targets) {
        await world.foreign.mark(world, target)
        await world.foreign.markStatus(world, target)
      }
      return targets.length > 0
    },
  }
  return [...own, ...held, declared, ...(edit === undefined ? [] : [changeOfSpec(primary, edit)])]
}

function changeOfOwned(target: Target, edit: Edit | undefined): Change {
  return {
    what: `${edit === undefined ? '' : 'spec, '}labels and annotations of ${objectId(target)}`,
    act: ({ world }) => world.foreign.mark(world, target, edit?.patch),
  }
}

/** A finalizer belongs to whoever added it: only that client knows when its work is done. */
function changeOfFinalizers(target: Target): Change {
  return {
    what: `the finalizers of ${objectId(target)}`,
    act: (_control, finalizers) => finalizers.add(target),
  }
}

function changeOfSpec(primary: string, { patch }: Edit): Change {
  return {
    what: `the spec of the ${primary}, and takes it back`,
    act: async ({ world, problem }) => {
      const targets = objectsOf(world, primary)
      for (const target of targets) {
        const back = inverse(world, target, patch)
        await patchAsSomebody(world, target, patch)
        world.clock.schedule(TAKEN_BACK_MS, () => {
          const failed = (error: unknown) => problem('foreign-write-lost', `cannot take the change back: ${error}`)
          patchAsSomebody(world, target, back).catch(failed)
        })
      }
      return targets.length > 0
    },
  }
}

/** The merge patch that undoes another one. */
function inverse(world: World, target: Target, patch: PlainObject): PlainObject {
  const live = read(world, target)
  return leaves(patch).reduce<PlainObject>((undo, path) => merged(undo, path, at(live, path) ?? null), {})
}

function merged(patch: PlainObject, [first = '', ...rest]: readonly string[], value: unknown): PlainObject {
  const inner = (patch[first] ?? {}) as PlainObject
  return { ...patch, [first]: rest.length === 0 ? value : merged(inner, rest, value) }
}
