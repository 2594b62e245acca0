/** T8 and T11: somebody else writes to the same objects, in between or afterwards. */
import type { KubeClient, KubeObject, Resource } from '@reeve/kube'
import { resource as declareResource, isNotFound } from '@reeve/kube'
import { PASS } from '../disturbance.ts'
import { describeRequest, isBookkeeping, objectId } from '../request-facts.ts'
import { FOREIGN } from '../snapshot.ts'
import type { World } from '../world.ts'
import type { Pattern, Point } from './pattern.ts'

interface Target {
  readonly resource: string
  readonly namespace: string | undefined
  readonly name: string
}

/** T8: between the operator's reads and each of its writes, somebody annotates the object or its owner. */
export const foreignWriters: Pattern = {
  id: 'T8',
  title: 'foreign writers',
  coverage: 'exhaustive',
  async points(context) {
    const { world } = await context.undisturbed('alone')
    const primary = context.operator.crds[0]?.name
    const writes = world.requests.filter(({ isWrite }) => isWrite)
    return writes.flatMap((write) => {
      const { resource, namespace, name } = write
      const own =
        name !== undefined && write.verb !== 'create' && !isBookkeeping(resource) ? [{ resource, namespace, name }] : []
      const whose = resource === primary ? own : [...own, 'primary' as const]
      return whose.map((target): Point => {
        const what = target === 'primary' ? `the ${primary}` : `${objectId(target)}`
        return {
          label: `somebody changes ${what} just before request ${write.index} (${describeRequest(write)})`,
          run: () =>
            context.disturbed('alone', {
              disturb: ({ world: disturbed, fault, problem }) => {
                const touched = new Map<string, { readonly target: Target; readonly uid: unknown }>()
                return {
                  onRequest: async (request) => {
                    if (request.index !== write.index) return PASS
                    fault(`somebody changes ${what}`)
                    const targets = target === 'primary' ? objectsOf(disturbed, primary ?? '') : [target]
                    for (const one of targets) {
                      if (await annotate(disturbed, one))
                        touched.set(objectId(one), { target: one, uid: uidOf(disturbed, one) })
                    }
                    return PASS
                  },
                  onStepEnd: async () => {
                    for (const [id, { target: one, uid }] of touched) {
                      const live = read(disturbed, one)
                      if (live?.metadata.uid === uid && live?.metadata.annotations?.[FOREIGN] === undefined) {
                        problem(`the annotation of somebody else on ${id} is gone`)
                        touched.delete(id)
                      }
                    }
                    const errors = disturbed.instances.flatMap((instance) => instance.errors.splice(0))
                    if (errors.length > 0) problem(`a benign conflict was logged as an error: ${errors[0]}`)
                  },
                }
              },
            }),
        }
      })
    })
  },
}

/** T11: each owned object is deleted, or edited, after each step. */
export const monkey: Pattern = {
  id: 'T11',
  title: 'monkey',
  coverage: 'exhaustive',
  async points(context) {
    const { world, baseline } = await context.undisturbed('alone')
    const created = new Set(world.countByObject('create').keys())
    return baseline.snapshots.flatMap((snapshot, step) =>
      [...snapshot.keys()]
        .filter((id) => created.has(id))
        .flatMap((id) =>
          mischiefs(context.operator.monkeyEdits ?? [], id).map(({ name, patch }): Point => {
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
                      await act(disturbed, target, patch)
                    },
                  }),
                }),
            }
          }),
        ),
    )
  },
}

type Edit = 'delete' | 'remove-label' | Readonly<Record<string, unknown>>

function mischiefs(
  edits: readonly { readonly resource: string; readonly patch: Readonly<Record<string, unknown>> }[],
  id: string,
): readonly { readonly name: string; readonly patch: Edit }[] {
  const own = edits.filter(({ resource }) => id.startsWith(`${resource} `))
  return [
    { name: 'deletes', patch: 'delete' },
    { name: 'takes a label off', patch: 'remove-label' },
    ...own.map(({ patch }) => ({ name: `writes ${JSON.stringify(patch)} into`, patch })),
  ]
}

async function act(world: World, target: Target, edit: Edit): Promise<void> {
  const live = read(world, target)
  if (live === undefined) return
  const [of, key] = [resourceOf(world, target.resource), keyOf(target)]
  if (edit === 'delete') return ignoreMissing(world.foreigner.delete(of, key))
  const [label] = Object.keys(live.metadata.labels ?? {})
  if (edit === 'remove-label' && label === undefined) return
  const patch = edit === 'remove-label' ? { metadata: { labels: { [label ?? '']: null } } } : edit
  await ignoreMissing(world.foreigner.patch(of, key, { type: 'merge', patch }))
}

async function annotate(world: World, target: Target): Promise<boolean> {
  if (read(world, target) === undefined) return false
  const patch = { metadata: { annotations: { [FOREIGN]: String(world.elapsedMs) } } }
  await ignoreMissing(
    world.foreigner.patch(resourceOf(world, target.resource), keyOf(target), { type: 'merge', patch }),
  )
  return true
}

async function ignoreMissing(request: ReturnType<KubeClient['delete']> | Promise<unknown>): Promise<void> {
  await request.catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
}

function objectsOf(world: World, resource: string): readonly Target[] {
  return world.cluster.api.list(resource).map((object) => {
    const { namespace, name } = object.metadata as { readonly namespace?: string; readonly name: string }
    return { resource, namespace, name }
  })
}

function read(world: World, { resource, namespace, name }: Target): KubeObject | undefined {
  return world.cluster.api.get(resource, namespace, name) as KubeObject | undefined
}

function uidOf(world: World, target: Target): unknown {
  return read(world, target)?.metadata.uid
}

function keyOf({ namespace, name }: Target) {
  return { name, ...(namespace !== undefined && { namespace }) }
}

function targetOf(id: string): Target {
  const [resource = '', key = ''] = id.split(' ')
  const [first = '', second] = key.split('/')
  return second === undefined
    ? { resource, namespace: undefined, name: first }
    : { resource, namespace: first, name: second }
}

function resourceOf(world: World, name: string): Resource {
  const served = world.cluster.api.resources().find(({ resource }) => resource === name)
  const live = world.cluster.api.list(name)[0] as KubeObject | undefined
  const version = (live?.apiVersion ?? 'v1').split('/').at(-1) ?? 'v1'
  const [plural = ''] = name.split('.')
  return declareResource({
    group: served?.group ?? '',
    version,
    kind: served?.kind ?? '',
    plural,
    namespaced: served?.namespaced ?? true,
  })
}
