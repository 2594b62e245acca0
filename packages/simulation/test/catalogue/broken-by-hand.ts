/** Broken operators that do not use the runtime. Each has one bug of a kind that was found in real operators. */
import { ConfigMaps } from '@reeve/kube'
import { type OperatorUnderTest, OutsideCallError } from '../../src/index.ts'
import { byHand, type ConfigMap, type Hand } from './by-hand.ts'
import { childOf, createChild, goodReconcile, isCurrent, isOwned, isSame, keyOf, living, report } from './good-hand.ts'
import { ignoreMissing, withRecord } from './good-records.ts'
import { dataOf, type Note, Notes } from './notes.ts'

/** Does nothing at all. */
export const idle = byHand('idle', { reconcile: async () => undefined })

/** Reports success before acting, and trusts that later. */
export const claimsReadyTooEarly = byHand('claims-ready-too-early', {
  reconcile: async (hand) => {
    const note = living(hand)
    const ready = note?.status?.conditions?.find(({ type }) => type === 'Ready')
    if (note === undefined || ready?.observedGeneration === note.metadata.generation) return
    await report(hand, note)
    const child = hand.configMaps.get(hand.name)
    if (child === undefined) await createChild(hand.client, note)
    else await hand.client.update(ConfigMaps, { ...child, data: dataOf(note) })
  },
})

/** Its child has no owner, and is never deleted. */
export const leavesOrphans = byHand('leaves-orphans', {
  reconcile: async (hand) => {
    const note = living(hand)
    if (note === undefined) return
    const child = hand.configMaps.get(hand.name)
    const { metadata, ...content } = childOf(note)
    const data = dataOf(note)
    if (child === undefined) await hand.client.create(ConfigMaps, { ...content, metadata: keyOf(note) } as ConfigMap)
    else if (!isSame(child.data, data)) await hand.client.update(ConfigMaps, { ...child, data })
    await report(hand, note)
  },
})

/** At its start, it deletes by name every child whose Note its view does not show. */
export const sweepsWithAnOldView = byHand('sweeps-with-an-old-view', {
  reconcile: goodReconcile,
  atStart: async ({ client, notes, configMaps }) => {
    for (const [name, { metadata }] of configMaps) {
      const owner = metadata.ownerReferences?.find(({ kind }) => kind === 'Note')
      if (owner === undefined || notes.get(name)?.metadata.uid === owner.uid) continue
      await client.delete(ConfigMaps, { namespace: 'default', name }).catch(ignoreMissing)
    }
  },
})

/** Takes an empty map for nothing to do: the old entries stay. */
export const ignoresEmptyMaps = byHand('ignores-empty-maps', {
  reconcile: async (hand) => {
    const note = living(hand)
    const child = hand.configMaps.get(hand.name)
    const { extras } = note?.spec ?? {}
    const isSkipped = extras !== undefined && Object.keys(extras).length === 0 && child !== undefined
    if (note !== undefined && isSkipped && isOwned(child, note)) await report(hand, note)
    else await goodReconcile(hand)
  },
})

/** Takes zero for absent. */
export const takesZeroForAbsent = byHand('takes-zero-for-absent', {
  reconcile: (hand) => {
    const note = hand.notes.get(hand.name)
    if (note === undefined) return goodReconcile(hand)
    const spec = { ...note.spec, copies: note.spec.copies || 1 }
    return goodReconcile({ ...hand, notes: new Map([[hand.name, { ...note, spec }]]) })
  },
})

/** Records when it was started, with the time of the machine. */
export const stampsItsStart = byHand('stamps-its-start', {
  reconcile: goodReconcile,
  atStart: async ({ client, notes }) => {
    for (const note of notes.values()) {
      const patch = { status: { at: new Date().toISOString() } }
      await client.patch(Notes, keyOf(note), { type: 'merge', patch }, { subresource: 'status' })
    }
  },
})

/** Recreates what is older than five minutes by the time of the machine. */
export const renewsByWallTime = byHand('renews-by-wall-time', {
  reconcile: async (hand) => {
    const child = hand.configMaps.get(hand.name)
    const age = Date.now() - Date.parse(child?.metadata.creationTimestamp ?? '')
    if (age > 300_000)
      await hand.client.delete(ConfigMaps, { namespace: 'default', name: hand.name }).catch(ignoreMissing)
    await goodReconcile(hand)
  },
})

/** Overwrites any object with the name that it needs. */
export const takesOver = byHand('takes-over', {
  reconcile: async (hand) => {
    const note = living(hand)
    if (note === undefined) return
    const child = hand.configMaps.get(hand.name)
    if (child === undefined && !(await isCurrent(hand.client, note))) return
    const { metadata, resourceVersion } = {
      resourceVersion: undefined,
      ...(child ?? (await createChild(hand.client, note))),
    }
    const owned = {
      ...childOf(note),
      metadata: {
        ...metadata,
        ...childOf(note).metadata,
        resourceVersion: metadata.resourceVersion ?? resourceVersion,
      },
    }
    const isDone = child !== undefined && isOwned(child, note) && isSame(child.data, dataOf(note))
    if (!isDone) await hand.client.update(ConfigMaps, owned as ConfigMap)
    await report(hand, note)
  },
})

/** Does not change objects of other owners, but reports success. */
export const claimsForeignObjects = byHand('claims-foreign-objects', {
  reconcile: async (hand) => {
    const note = living(hand)
    const child = hand.configMaps.get(hand.name)
    if (note !== undefined && child !== undefined && !isOwned(child, note)) await report(hand, note)
    else await goodReconcile(hand)
  },
})

const FINALIZER = 'example.com/notes'

/** Deletes by name what it assumes to be its own, when a Note is deleted. */
export const deletesByName = byHand('deletes-by-name', {
  reconcile: async (hand) => {
    const { client, name, notes } = hand
    const note = notes.get(name)
    if (note === undefined) return
    const { finalizers = [], resourceVersion } = note.metadata
    const setFinalizers = (next: readonly string[]) =>
      client.patch(Notes, keyOf(note), { type: 'merge', patch: { metadata: { finalizers: next, resourceVersion } } })
    if (note.metadata.deletionTimestamp !== undefined) {
      if (!finalizers.includes(FINALIZER)) return
      await client.delete(ConfigMaps, keyOf(note)).catch(ignoreMissing)
      await setFinalizers(finalizers.filter((one) => one !== FINALIZER)).catch(ignoreMissing)
      return
    }
    if (!finalizers.includes(FINALIZER)) await setFinalizers([...finalizers, FINALIZER])
    else await goodReconcile(hand)
  },
})

/** Never removes its finalizer: the Note cannot go. */
export const keepsItsFinalizer = byHand('keeps-its-finalizer', {
  reconcile: async (hand) => {
    const note = living(hand)
    const { finalizers = [] } = note?.metadata ?? {}
    if (note !== undefined && !finalizers.includes(FINALIZER)) {
      const patch = { metadata: { finalizers: [...finalizers, FINALIZER] } }
      await hand.client.patch(Notes, keyOf(note), { type: 'merge', patch })
    } else await goodReconcile(hand)
  },
})

/** Cleans up outside when it sees the event of a deletion, and only then. */
export const cleansUpOnEvents = byHand('cleans-up-on-events', {
  reconcile: async (hand) => {
    const { place, name, notes, lastEvent } = hand
    const note = notes.get(name)
    if (note !== undefined) await place.outside.create(name, 'made', note.metadata.uid)
    else if (lastEvent === 'DELETED') {
      for (const record of await place.outside.list()) if (record.name === name) await place.outside.remove(record.id)
    }
    await goodReconcile(hand)
  },
})

/** Makes a record outside at every attempt: one whose response is lost is made twice. */
export const repeatsOutsideCalls = byHand(
  'repeats-outside-calls',
  {
    reconcile: async (hand) => {
      const note = living(hand)
      if (note === undefined) return goodReconcile(hand)
      if (note.status?.child === undefined) {
        const { id } = await hand.place.outside.create(hand.name, 'made')
        const patch = { status: { child: id } }
        await hand.client.patch(Notes, keyOf(note), { type: 'merge', patch }, { subresource: 'status' })
      }
      return goodReconcile(hand)
    },
  },
  { leavesBehind: ['outside *'] },
)

/** Quotes every failure in the status, and takes the event of that for a reason to try again at once. */
export const quotesFailures = byHand('quotes-failures', {
  reconcile: async (hand) => {
    try {
      await withRecord(hand, (id) => hand.place.outside.remove(id))
    } catch (error) {
      const patch = { status: { at: error instanceof OutsideCallError ? error.message : '' } }
      const key = { namespace: 'default', name: hand.name }
      await hand.client.patch(Notes, key, { type: 'merge', patch }, { subresource: 'status' }).catch(ignoreMissing)
      throw error
    }
  },
})

/** Replaces its child as a whole, including fields of other managers. */
export const replacesForeignFields = byHand('replaces-foreign-fields', {
  reconcile: async (hand) => {
    const note = living(hand)
    const child = hand.configMaps.get(hand.name)
    const isOurs = note !== undefined && child !== undefined && isOwned(child, note)
    if (!isOurs || isSame(child.data, dataOf(note))) return goodReconcile(hand)
    await hand.client.update(ConfigMaps, childOf(note) as ConfigMap)
    return report(hand, note)
  },
})

/** Acts on Notes that change, not on children that go. */
export const restoresNothing = byHand('restores-nothing', {
  reconcile: async (hand) => {
    const note = living(hand)
    const isDone = note?.status?.conditions?.some(
      ({ type, observedGeneration }) => type === 'Ready' && observedGeneration === note.metadata.generation,
    )
    if (!isDone) await goodReconcile(hand)
  },
})

/** Drops what failed once. */
export const neverRetries = byHand('never-retries', { reconcile: goodReconcile, retries: false })

/** Resumes a watch that the server has ended because its version is too old. */
export const neverListsAgain = byHand('never-lists-again', { reconcile: goodReconcile, afterWatchError: 'resume' })

/** Waits forever on a stream that is dead. */
export const trustsSilence = byHand('trusts-silence', { reconcile: goodReconcile, noticesSilence: false })

/** Ignores the signal to stop. */
export const ignoresStop = byHand('ignores-stop', { reconcile: goodReconcile, stops: false })

/** Names its child after what is declared, and leaves the previous one behind. */
export const leavesRenamedChildren = byHand('leaves-renamed-children', {
  reconcile: async (hand) => {
    const note = living(hand)
    if (note === undefined) return
    const name = `${hand.name}-${note.spec.text}`
    if (!hand.configMaps.has(name) && (await isCurrent(hand.client, note)))
      await hand.client.create(ConfigMaps, childOf(note, name) as ConfigMap)
    await report(hand, note)
  },
})

/** Reports the version of the Note that it saw before the last one. */
export const reportsOldGenerations = byHand('reports-old-generations', {
  reconcile: (hand) => {
    const note = hand.notes.get(hand.name)
    const metadata = note && { ...note.metadata, generation: 1 }
    const seen = new Map(note && metadata ? [[hand.name, { ...note, metadata }]] : [])
    return goodReconcile({ ...hand, notes: seen })
  },
})

/** Fills in what a user left out, in the user's own object. */
export const completesTheSpec = byHand('completes-the-spec', {
  reconcile: async (hand) => {
    const note = living(hand)
    if (note === undefined || note.spec.copies !== undefined) return goodReconcile(hand)
    return hand.client.patch(Notes, keyOf(note), { type: 'merge', patch: { spec: { copies: 1 } } })
  },
})

/** Remembers by name what it has done, and confuses another Note of that name with it. */
export function remembersNames(): OperatorUnderTest {
  const start = () => {
    const done = new Set<string>()
    return byHand('remembers-names', {
      reconcile: async (hand: Hand) => {
        const note = living(hand)
        const seen = `${hand.name} ${note?.metadata.generation}`
        if (note === undefined || done.has(seen)) return
        await goodReconcile(hand)
        const { status } = await hand.client.get(Notes, keyOf(note))
        if (status?.conditions?.some(({ status: value }: { readonly status: string }) => value === 'True'))
          done.add(seen)
      },
    })
  }
  return { ...start(), start: (place, client) => start().start(place, client) }
}

/** Completes interrupted work only at start: if that fails, it is never done. */
export const recoversOnce: OperatorUnderTest = {
  ...byHand('recovers-once', { reconcile: goodReconcile }),
  start: (place, client) => {
    const begun = new Set<string>()
    const finish = async (hand: Hand, note: NonNullable<ReturnType<typeof living>>) => {
      await goodReconcile(hand)
      begun.add(note.metadata.uid)
    }
    return byHand('recovers-once', {
      atStart: async (hand) => {
        for (const [name, note] of hand.notes) if (note.status?.child === 'begun') await finish({ ...hand, name }, note)
      },
      reconcile: async (hand) => {
        const note = living(hand)
        if (note === undefined) return
        const isBegun = note.status?.child === 'begun'
        if (isBegun && !begun.has(note.metadata.uid)) return
        if (!isBegun) {
          begun.add(note.metadata.uid)
          const status: Note['status'] = { ...note.status, child: 'begun' }
          await hand.client.update(Notes, { ...note, status }, { subresource: 'status' })
          return
        }
        await finish(hand, note)
      },
    }).start(place, client)
  },
}
