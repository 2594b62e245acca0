/** The parts of a correct hand-written operator, which the others replace. */
import { ConfigMaps, isAlreadyExists, isNotFound, type KubeClient, type Stored } from '@reeve/kube'
import { setCondition } from '@reeve/runtime'
import { controllerReference } from '@reeve/runtime/owner-references'
import type { Place } from '../../src/index.ts'
import type { ConfigMap, Hand } from './by-hand.ts'
import { dataOf, type Note, Notes } from './notes.ts'

export const isSame = (one: unknown, other: unknown) => JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** The ConfigMap of a Note. */
export function childOf(
  note: Stored<Note>,
  name = note.metadata.name,
): Omit<ConfigMap, 'metadata'> & { metadata: object } {
  const { namespace } = note.metadata
  const metadata = { name, namespace, ownerReferences: [controllerReference(note)] }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: dataOf(note) }
}

export function isOwned(child: ConfigMap, note: Stored<Note>): boolean {
  return child.metadata.ownerReferences?.some(({ uid }) => uid === note.metadata.uid) ?? false
}

/** The Note to reconcile, if there is one. */
export function living({ notes, name }: Hand): Stored<Note> | undefined {
  const note = notes.get(name)
  return note?.metadata.deletionTimestamp === undefined ? note : undefined
}

/** Whether the Note is still what the view shows: before something is created for it, it is read again. */
export async function isCurrent(client: KubeClient, note: Stored<Note>): Promise<boolean> {
  const live = await client.get(Notes, keyOf(note)).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
  return live?.metadata.resourceVersion === note.metadata.resourceVersion
}

/** Creates the child; returns the one that exists already, read now. */
export async function createChild(client: KubeClient, note: Stored<Note>): Promise<ConfigMap> {
  // It has all required fields; the server adds the rest.
  const child = childOf(note) as ConfigMap
  return client.create(ConfigMaps, child).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error
    return client.get(ConfigMaps, keyOf(note))
  })
}

export function keyOf({ metadata: { namespace = '', name } }: Stored<Note>) {
  return { namespace, name }
}

/** Writes the status when it differs, and nothing else. */
export async function report(
  { client, place }: { readonly client: KubeClient; readonly place: Place },
  note: Stored<Note>,
  problem?: string,
): Promise<void> {
  const { generation } = note.metadata
  const state =
    problem === undefined
      ? ({ type: 'Ready', status: 'True', reason: 'Done', message: '' } as const)
      : ({ type: 'Ready', status: 'False', reason: 'Blocked', message: problem } as const)
  const known = note.status?.conditions
  const conditions = setCondition(
    known,
    { ...state, ...(generation !== undefined && { observedGeneration: generation }) },
    place.clock,
  )
  if (conditions === known) return
  await client.update(Notes, { ...note, status: { ...note.status, conditions } }, { subresource: 'status' })
}

/** A correct operator. */
export async function goodReconcile(hand: Hand): Promise<void> {
  const { client, configMaps, name } = hand
  const note = living(hand)
  if (note === undefined) return
  const seen = configMaps.get(name)
  // Its event will arrive.
  if (seen === undefined && !(await isCurrent(client, note))) return
  const child = seen ?? (await createChild(client, note))
  if (!isOwned(child, note)) {
    // What an earlier Note of this name owned is deleted by the cluster.
    await report(hand, note, `configmaps ${name} exists and belongs to someone else`)
    return
  }
  const data = dataOf(note)
  if (!isSame(child.data, data)) await client.update(ConfigMaps, { ...child, data })
  await report(hand, note)
}
