/** T11: somebody deletes or edits what the operator owns. */
import type { Edit, PlainObject } from '../operator-under-test.ts'
import { deleteAsSomebody, patchAsSomebody, read, type Target, targetOf } from '../world/targets.ts'
import type { World } from '../world/world.ts'
import type { Pattern, Point } from './pattern.ts'

type Mischief = 'delete' | 'remove-label' | PlainObject

/** Each owned object is deleted, or edited, after each step. */
export const monkey: Pattern = {
  id: 'T11',
  title: 'monkey',
  coverage: 'exhaustive',
  async points(context) {
    const { world, baseline } = await context.undisturbed('alone')
    const created = new Set(world.countByObject('create').keys())
    return baseline.snapshots.flatMap((snapshot, step) =>
      [...snapshot.keys()]
        .filter((id) => created.has(id) && !context.scenario.steps[step]?.irreplaceable?.includes(id))
        .flatMap((id) =>
          mischiefs(context.operator.monkeyEdits ?? [], id).map(({ name, mischief }): Point => {
            const target = targetOf(id)
            return {
              label: `after the step "${context.scenario.steps[step]?.name}" somebody ${name} ${id}`,
              run: () =>
                context.disturbed('alone', {
                  extraCreates: 1,
                  disturb: ({ world: disturbed, fault }) => ({
                    onStepEnd: async (ended) => {
                      if (ended !== step) return
                      fault(`somebody ${name} ${id}`)
                      await act(disturbed, target, mischief)
                    },
                  }),
                }),
            }
          }),
        ),
    )
  },
}

function mischiefs(
  edits: readonly Edit[],
  id: string,
): readonly { readonly name: string; readonly mischief: Mischief }[] {
  const own = edits.filter(({ resource }) => id.startsWith(`${resource} `))
  return [
    { name: 'deletes', mischief: 'delete' },
    { name: 'takes a label off', mischief: 'remove-label' },
    ...own.map(({ patch }) => ({ name: `writes ${JSON.stringify(patch)} into`, mischief: patch })),
  ]
}

async function act(world: World, target: Target, mischief: Mischief): Promise<void> {
  const live = read(world, target)
  if (live === undefined) return
  if (mischief === 'delete') return deleteAsSomebody(world, target)
  const [label] = Object.keys(live.metadata.labels ?? {})
  if (mischief === 'remove-label' && label === undefined) return
  const patch = mischief === 'remove-label' ? { metadata: { labels: { [label ?? '']: null } } } : mischief
  await patchAsSomebody(world, target, patch)
}
