/** Broken operators that clean up too little, too much or at the wrong time when something is deleted or fails. */
import { ConfigMaps, isNotFound } from '@reeve/kube'
import { byHand, type Hand } from './by-hand.ts'
import { goodReconcile, isCurrent } from './good-hand.ts'
import { withRecord } from './good-records.ts'
import { Notes } from './notes.ts'

async function removeRecords({ place, name }: Hand): Promise<void> {
  for (const record of await place.outside.list()) if (record.name === name) await place.outside.remove(record.id)
}

/** Makes its record outside before the finalizer that is to guard it. */
export const guardsTooLate = byHand('guards-too-late', {
  reconcile: async (hand) => {
    const note = hand.notes.get(hand.name)
    if (note === undefined || note.metadata.deletionTimestamp !== undefined || !(await isCurrent(hand.client, note)))
      return withRecord(hand, (id) => hand.place.outside.remove(id))
    await hand.place.outside.create(hand.name, 'made', note.metadata.uid)
    await withRecord(hand, (id) => hand.place.outside.remove(id))
  },
})

/** Removes its record outside when the Note vanishes, without a finalizer: while it restarts, nobody does. */
export const cleansUpWhatItSeesVanish = byHand('cleans-up-what-it-sees-vanish', {
  reconcile: async (hand) => {
    const note = hand.notes.get(hand.name)
    if (note === undefined) {
      const live = await hand.client.get(Notes, { namespace: 'default', name: hand.name }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error
      })
      if (live === undefined) await removeRecords(hand)
      return
    }
    if (note.metadata.deletionTimestamp !== undefined || !(await isCurrent(hand.client, note))) return
    await hand.place.outside.create(hand.name, 'made', hand.name)
    await goodReconcile(hand)
  },
})

/** Takes everything back when anything fails. */
export const rollsBack = byHand('rolls-back', {
  reconcile: async (hand) => {
    try {
      await goodReconcile(hand)
    } catch (error) {
      await hand.client.delete(ConfigMaps, { namespace: 'default', name: hand.name }).catch(() => undefined)
      throw error
    }
  },
})
