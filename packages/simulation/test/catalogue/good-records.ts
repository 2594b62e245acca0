/** Correct operators with a record outside the cluster, a finalizer, an expiry, or names that the server generates. */
import { ConfigMaps, isNotFound } from '@reeve/kube'
import { formatTime } from '@reeve/runtime'
import { controllerReference } from '@reeve/runtime/owner-references'
import { byHand, type ConfigMap, type Hand } from './by-hand.ts'
import { childOf, goodReconcile, isCurrent, isOwned, isSame, keyOf, living, report } from './good-hand.ts'
import { dataOf, Notes } from './notes.ts'

export const ignoreMissing = (error: unknown) => {
  if (!isNotFound(error)) throw error
}

const FINALIZER = 'example.com/records'

/**
 * Reconciles with a record outside that exists as long as the Note.
 *
 * @param remove removes the record with this id, before the Note is deleted
 * @param ofOthers the finalizers that it leaves
 */
export async function withRecord(
  hand: Hand,
  remove: (id: string) => Promise<unknown>,
  ofOthers = (finalizers: readonly string[]) => finalizers.filter((one) => one !== FINALIZER),
): Promise<void> {
  const { client, name, notes, place } = hand
  const note = notes.get(name)
  if (note === undefined) return
  const { finalizers = [], deletionTimestamp, resourceVersion } = note.metadata
  const setFinalizers = (next: readonly string[]) =>
    client.patch(Notes, keyOf(note), { type: 'merge', patch: { metadata: { finalizers: next, resourceVersion } } })
  if (deletionTimestamp === undefined) {
    if (!finalizers.includes(FINALIZER)) {
      await setFinalizers([...ofOthers(finalizers), FINALIZER]).catch(ignoreMissing)
      return
    }
    if (!(await isCurrent(client, note))) return
    await place.outside.create(name, 'made', note.metadata.uid)
    await goodReconcile(hand)
  } else if (finalizers.includes(FINALIZER) && (await isCurrent(client, note))) {
    // An old view may show an earlier Note of this name: the record of the present one has to stay.
    for (const record of await place.outside.list()) if (record.name === name) await remove(record.id)
    await setFinalizers(ofOthers(finalizers)).catch(ignoreMissing)
  }
}

/** Has a record outside, and removes it before it lets the Note go. */
export const recorded = byHand('recorded', {
  reconcile: (hand) => withRecord(hand, (id) => hand.place.outside.remove(id)),
})

/** Records an expiry that passes soon, and does nothing about it. */
export const expiring = byHand('expiring', {
  reconcile: async (hand) => {
    const note = living(hand)
    if (note === undefined || note.status?.at !== undefined) return goodReconcile(hand)
    const status = { ...note.status, at: formatTime(Date.now() + 30 * 60_000) }
    return hand.client.update(Notes, { ...note, status }, { subresource: 'status' })
  },
})

/**
 * Lets the server generate the name of its child, and finds it by its label. One without a controller is adopted, as a
 * ReplicaSet adopts Pods.
 */
export const generated = byHand(
  'generated',
  {
    reconcile: async (hand) => {
      const { client, configMaps, notes } = hand
      for (const note of notes.values()) {
        if (note.metadata.deletionTimestamp !== undefined) continue
        const { namespace = '', name } = note.metadata
        const seen = [...configMaps.values()].filter((map) => map.metadata.labels?.note === name)
        // The view may be old: what is missing in it is looked up before it is made, and so is the Note.
        const child =
          claimed(seen, note.metadata.uid) ??
          claimed(
            (await client.listAll(ConfigMaps, { namespace, labelSelector: `note=${name}` })).items,
            note.metadata.uid,
          )
        if ((child === undefined || !isOwned(child, note)) && !(await isCurrent(client, note))) continue
        const data = dataOf(note)
        if (child === undefined) {
          const { name: _, ...metadata } = childOf(note).metadata as ConfigMap['metadata']
          const labelled = { ...metadata, generateName: `${name}-`, labels: { note: name } }
          await client.create(ConfigMaps, { ...childOf(note), metadata: labelled } as unknown as ConfigMap)
        } else if (!isOwned(child, note) || !isSame(child.data, data)) {
          const metadata = { ...child.metadata, ownerReferences: [controllerReference(note)] }
          await client.update(ConfigMaps, { ...child, metadata, data })
        }
        await report(hand, note)
      }
    },
  },
  { adopts: ['configmaps *'] },
)

/** The one that is controlled by the Note, or by nobody. */
function claimed(children: readonly ConfigMap[], uid: string): ConfigMap | undefined {
  const controllerOf = ({ metadata }: ConfigMap) => metadata.ownerReferences?.find(({ controller }) => controller)?.uid
  return (
    children.find((child) => controllerOf(child) === uid) ?? children.find((child) => controllerOf(child) === undefined)
  )
}
