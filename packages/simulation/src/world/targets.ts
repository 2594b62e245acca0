/** Objects of the cluster by name, and someone who changes them behind the operator's back. */
import type { KubeObject, Resource } from '@reeve/kube'
import { resource as declareResource, isNotFound } from '@reeve/kube'
import type { PlainObject } from '../operator-under-test.ts'
import type { World } from './world.ts'

/** Names one object. */
export interface Target {
  /** `plural` or `plural.group`. */
  readonly resource: string
  readonly namespace: string | undefined
  readonly name: string
}

/** The object in the cluster. */
export function read(world: World, { resource, namespace, name }: Target): KubeObject | undefined {
  return world.cluster.api.get(resource, namespace, name) as KubeObject | undefined
}

/** All objects of a resource. */
export function objectsOf(world: World, resource: string): readonly Target[] {
  return world.cluster.api.list(resource).map((object) => {
    const { namespace, name } = object.metadata as { readonly namespace?: string; readonly name: string }
    return { resource, namespace, name }
  })
}

/** The object with this id, such as `deployments.apps default/shop`. */
export function targetOf(id: string): Target {
  const [resource = '', key = ''] = id.split(' ')
  const [first = '', second] = key.split('/')
  return second === undefined
    ? { resource, namespace: undefined, name: first }
    : { resource, namespace: first, name: second }
}

/** Another client merges `patch` into the object; nothing happens if it does not exist. */
export async function patchAsSomebody(
  world: World,
  target: Target,
  patch: PlainObject,
  subresource?: 'status',
): Promise<void> {
  const options = { type: 'merge', patch } as const
  const { foreigner } = world
  await ignoreMissing(
    foreigner.patch(resourceOf(world, target.resource), keyOf(target), options, {
      ...(subresource && { subresource }),
    }),
  )
}

/** Someone else deletes the object. */
export async function deleteAsSomebody(world: World, target: Target): Promise<void> {
  await ignoreMissing(world.foreigner.delete(resourceOf(world, target.resource), keyOf(target)))
}

async function ignoreMissing(request: Promise<unknown>): Promise<void> {
  await request.catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
}

function keyOf({ namespace, name }: Target) {
  return { name, ...(namespace !== undefined && { namespace }) }
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
