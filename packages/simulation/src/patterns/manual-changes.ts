/** A user deletes or edits what the operator owns. */
import type { OperatorUnderTest, PlainObject } from '../operator-under-test.ts'
import { matchesId } from '../world/request-facts.ts'
import { deleteAsSomebody, patchAsSomebody, read, type Target, targetOf } from '../world/targets.ts'
import type { World } from '../world/world.ts'
import { type Pattern, pointOf } from './pattern.ts'

interface Change {
  /** What someone does, such as `deletes`. */
  readonly name: string
  /** False when there was nothing to change. */
  readonly act: (world: World, target: Target) => Promise<boolean>
}

interface DataObject {
  readonly data: PlainObject
  readonly immutable: boolean
}

/** Resources whose content is a map of values, each of which may be edited without making the object invalid. */
const DATA: ReadonlySet<string> = new Set(['configmaps', 'secrets'])

/** Each owned object is deleted, or edited, after each step. */
export const manualChanges: Pattern = {
  name: 'manual-changes',
  title: 'a user deletes or edits manually',
  coverage: 'exhaustive',
  async points(context) {
    const { operator, scenario } = context
    const { world, baseline } = await context.undisturbed('alone')
    const created = new Set(world.log.countByObject('create').keys())
    const other = (await context.withOtherSeed()).world.ledger.created
    return baseline.snapshots.flatMap((snapshot, step) => {
      const { name: stepName = '', irreplaceable = [] } = scenario.steps[step] ?? {}
      return [...snapshot]
        .filter(([id]) => created.has(id) && !irreplaceable.includes(id))
        .flatMap(([id, object]) =>
          changesOf(operator, id, object, fixedValue(world.ledger.created.get(id), other.get(id))).map(
            ({ name, act }) =>
              pointOf(context, {
                label: `after the step "${stepName}" a user ${name} ${id}`,
                shape: { coarse: `${name} ${id.split(' ')[0]}`, fine: id },
                mode: 'alone',
                options: { extraCreates: 1, comparesTimes: false },
                disturb: ({ world: disturbed, fault }) => ({
                  onStepEnd: async (ended) => {
                    if (ended === step && (await act(disturbed, targetOf(id)))) fault(`a user ${name} ${id}`)
                  },
                }),
              }),
          ),
        )
    })
  },
}

function changesOf(
  { monkeyEdits = [], keepsValues = [] }: OperatorUnderTest,
  id: string,
  object: PlainObject,
  value: string | undefined,
): readonly Change[] {
  const { labels } = object.metadata as { readonly labels?: unknown }
  const own = monkeyEdits.filter(({ resource }) => id.startsWith(`${resource} `))
  const isKept = keepsValues.some((pattern) => matchesId(pattern, id))
  const isEdited = own.length === 0 && !isKept && value !== undefined && DATA.has(id.split(' ')[0] ?? '')
  return [
    { name: 'deletes', act: remove },
    ...(labels === undefined ? [] : [{ name: 'removes a label from', act: removeLabel }]),
    ...(isEdited
      ? [{ name: 'changes a value of', act: (world: World, target: Target) => changeValue(world, target, value) }]
      : []),
    ...own.map(({ patch }) => ({
      name: `writes ${JSON.stringify(patch)} into`,
      act: (world: World, target: Target) => edit(world, target, patch),
    })),
  ]
}

async function remove(world: World, target: Target): Promise<boolean> {
  if (read(world, target) === undefined) return false
  await deleteAsSomebody(world, target)
  return true
}

async function removeLabel(world: World, target: Target): Promise<boolean> {
  const [label] = Object.keys(read(world, target)?.metadata.labels ?? {})
  return label !== undefined && edit(world, target, { metadata: { labels: { [label]: null } } })
}

/**
 * The name of the first value that is the same in two runs with different seeds. One that was drawn is stored nowhere
 * else, so that nothing can restore it.
 */
function fixedValue(one: PlainObject | undefined, other: PlainObject | undefined): string | undefined {
  // Of the resources that are edited, all have it.
  const [first, second] = [one, other].map((object) => (object as Partial<DataObject> | undefined)?.data ?? {})
  return Object.keys(first ?? {})
    .toSorted()
    .find((name) => first?.[name] === second?.[name])
}

async function changeValue(world: World, target: Target, name: string): Promise<boolean> {
  const { data = {}, immutable = false } = (read(world, target) ?? {}) as Partial<DataObject>
  if (data[name] === undefined || immutable) return false
  const text = 'changed manually'
  const value = target.resource === 'secrets' ? Buffer.from(text).toString('base64') : text
  return edit(world, target, { data: { [name]: value } })
}

async function edit(world: World, target: Target, patch: PlainObject): Promise<boolean> {
  const before = read(world, target)?.metadata.resourceVersion
  if (before === undefined) return false
  await patchAsSomebody(world, target, patch)
  return read(world, target)?.metadata.resourceVersion !== before
}
