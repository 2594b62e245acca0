/**
 * Which objects belong to a controller: those it created and those it adopts; objects that no longer match are
 * released.
 */
import { isLostRace } from './control-loop.ts'
import { type ClusterObject, controllerReference, isTerminating, type LabelSelector } from './kinds/meta.ts'
import type { ResourceClient } from './resource-client.ts'
import { selects } from './selectors.ts'

/** Objects that may belong to a controller. */
export interface Candidates<T> {
  /** Objects controlled by it. */
  readonly owned: readonly T[]
  /** Objects of its namespace without a controller. */
  readonly orphans: readonly T[]
}

/**
 * The objects that belong to `owner` after adopting orphans that its selector matches and releasing objects that it no
 * longer matches. An owner that is being deleted neither adopts nor releases.
 */
export async function claim<T extends ClusterObject>(
  owner: ClusterObject & { readonly spec: { readonly selector: LabelSelector } },
  client: ResourceClient<T>,
  candidates: Candidates<T>,
): Promise<T[]> {
  const { selector } = owner.spec
  const claimed: T[] = []
  for (const object of candidates.owned) {
    if (selects(selector, object.metadata.labels)) claimed.push(object)
    else if (!isTerminating(owner) && !isTerminating(object)) await release(owner, client, object)
  }
  if (isTerminating(owner)) return claimed
  for (const object of candidates.orphans) {
    if (isTerminating(object) || !selects(selector, object.metadata.labels)) continue
    const adopted = await adopt(owner, client, object)
    if (adopted !== undefined) claimed.push(adopted)
  }
  return claimed
}

async function adopt<T extends ClusterObject>(
  owner: ClusterObject,
  client: ResourceClient<T>,
  object: T,
): Promise<T | undefined> {
  const ownerReferences = [...(object.metadata.ownerReferences ?? []), controllerReference(owner)]
  try {
    return await client.update({ ...object, metadata: { ...object.metadata, ownerReferences } })
  } catch (error) {
    // Another client adopted or deleted it; the event of that write triggers another reconcile.
    if (isLostRace(error)) return undefined
    throw error
  }
}

async function release<T extends ClusterObject>(
  owner: ClusterObject,
  client: ResourceClient<T>,
  object: T,
): Promise<void> {
  const { uid } = owner.metadata
  const ownerReferences = object.metadata.ownerReferences?.filter((reference) => reference.uid !== uid) ?? []
  try {
    await client.update({ ...object, metadata: { ...object.metadata, ownerReferences } })
  } catch (error) {
    // The event of the conflicting write triggers another reconcile.
    if (!isLostRace(error)) throw error
  }
}
