/** Broken operators that keep wrong books: of what is theirs, of what they did, and of what is current. */
import { createHash } from 'node:crypto'
import { ConfigMaps, type KubeClient } from '@reeve/kube'
import { setCondition } from '@reeve/runtime'
import type { OperatorUnderTest } from '../../src/index.ts'
import { byHand, type ConfigMap } from './by-hand.ts'
import { childOf, goodReconcile, isCurrent, isOwned, isSame, keyOf, living, report } from './good-hand.ts'
import { ignoreMissing, withRecord } from './good-records.ts'
import { dataOf, type Note, Notes } from './notes.ts'

/** Removes its finalizer whether the clean-up outside succeeded or not. */
export const trustsCleanup = byHand('trusts-cleanup', {
  reconcile: (hand) => withRecord(hand, (id) => hand.place.outside.remove(id).catch(() => undefined)),
})

/** Knows only its own finalizer: those of others are lost when it adds or removes it. */
export const dropsFinalizers = byHand('drops-finalizers', {
  reconcile: (hand) =>
    withRecord(
      hand,
      (id) => hand.place.outside.remove(id),
      () => [],
    ),
})

/** Takes a Note that its view does not show for deleted, and deletes the record outside. */
export const deletesRecordsOfTheUnseen = byHand('deletes-records-of-the-unseen', {
  reconcile: async (hand) => {
    const { name, notes, place } = hand
    if (notes.has(name)) return withRecord(hand, (id) => place.outside.remove(id))
    for (const record of await place.outside.list()) if (record.name === name) await place.outside.remove(record.id)
  },
})

/** Reports by a patch of the whole status as its view shows it: conditions that others added meanwhile are lost. */
export const writesOldStatus = byHand('writes-old-status', {
  reconcile: (hand) => {
    const { client } = hand
    const update = (...[resource, object, options]: Parameters<KubeClient['update']>) => {
      if (options?.subresource !== 'status') return client.update(resource, object, options)
      const { namespace = '', name = '' } = object.metadata ?? {}
      const { status } = object as Partial<Note>
      return client.patch(resource, { namespace, name }, { type: 'merge', patch: { status } }, options)
    }
    const patching = new Proxy(client, {
      get: (target, method: keyof KubeClient) => {
        const original = target[method]
        if (typeof original !== 'function') return original
        return method === 'update' ? update : original.bind(target)
      },
    })
    return goodReconcile({ ...hand, client: patching })
  },
})

/** Deletes everything that has the label of its Note and another name than its child, whoever made it. */
export const prunesByLabel = byHand('prunes-by-label', {
  reconcile: async (hand) => {
    const { client, configMaps, name } = hand
    const note = living(hand)
    if (note === undefined) return
    for (const { metadata } of configMaps.values())
      if (metadata.labels?.note === name && metadata.name !== name)
        await client.delete(ConfigMaps, { namespace: 'default', name: metadata.name }).catch(ignoreMissing)
    if (configMaps.has(name)) return goodReconcile(hand)
    if (!(await isCurrent(client, note))) return
    const { metadata, ...content } = childOf(note)
    await client.create(ConfigMaps, {
      ...content,
      metadata: { ...metadata, labels: { note: name } },
    } as unknown as ConfigMap)
  },
})

/** Has two children, and replaces the metadata of the second one when it changes: its owner is lost. */
export const forgetsOwnerOnUpdate = byHand('forgets-owner-on-update', {
  reconcile: async (hand) => {
    const note = living(hand)
    if (note === undefined) return
    const name = `${hand.name}-copy`
    const copy = hand.configMaps.get(name)
    const data = { text: note.spec.text }
    if (copy === undefined) {
      if (!(await isCurrent(hand.client, note))) return
      await hand.client.create(ConfigMaps, { ...childOf(note, name), data } as ConfigMap)
    } else if (!isSame(copy.data, data)) {
      const { namespace = '', resourceVersion } = copy.metadata
      await hand.client.update(ConfigMaps, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace, name, resourceVersion },
        data,
      } as unknown as ConfigMap)
    }
    await goodReconcile(hand)
  },
})

/** Counts its changes in memory, and records the count. */
export const countsInMemory: OperatorUnderTest = {
  ...byHand('counts-in-memory', { reconcile: goodReconcile }),
  start: (place, client) => {
    let changes = 0
    return byHand('counts-in-memory', {
      reconcile: async (hand) => {
        const note = living(hand)
        const child = hand.configMaps.get(hand.name)
        if (note === undefined || (child !== undefined && !isOwned(child, note))) return goodReconcile(hand)
        const { revision, ...known } = child?.data ?? {}
        if (!isSame(known, dataOf(note)) || revision === undefined) changes += 1
        const spec = {
          ...note.spec,
          extras: { ...note.spec.extras, revision: isSame(known, dataOf(note)) && revision ? revision : `${changes}` },
        }
        return goodReconcile({ ...hand, notes: new Map([[hand.name, { ...note, spec }]]) })
      },
    }).start(place, client)
  },
}

/** Takes a child for current that was written after its Note: the versions of two kinds are not comparable. */
export const comparesVersions = byHand('compares-versions', {
  reconcile: async (hand) => {
    const note = living(hand)
    const child = hand.configMaps.get(hand.name)
    if (note === undefined || child === undefined || !isOwned(child, note)) return goodReconcile(hand)
    const isNewer = Number(child.metadata.resourceVersion) > Number(note.metadata.resourceVersion)
    return isNewer ? report(hand, note) : goodReconcile(hand)
  },
})

/** Records a hash over its input in the order in which the fields happen to come. */
export const hashesInOrder = byHand('hashes-in-order', {
  reconcile: async (hand) => {
    const note = living(hand)
    if (note === undefined) return
    const hash = createHash('sha256').update(JSON.stringify(note.spec)).digest('hex').slice(0, 8)
    const spec = { ...note.spec, extras: { ...note.spec.extras, hash } }
    await goodReconcile({ ...hand, notes: new Map([[hand.name, { ...note, spec }]]) })
  },
})

/** Reports its children in the order in which its view received them. */
export const listsInOrderOfArrival = byHand('lists-in-order-of-arrival', {
  reconcile: async (hand) => {
    const note = living(hand)
    if (note === undefined) return
    const second = hand.configMaps.get(`${hand.name}-a`)
    await goodReconcile(hand)
    if (hand.configMaps.has(hand.name) && second === undefined && (await isCurrent(hand.client, note)))
      await hand.client.create(ConfigMaps, { ...childOf(note, `${hand.name}-a`), data: {} } as ConfigMap)
    const child = [...hand.configMaps.values()]
      .filter((map) => isOwned(map, note))
      .map(({ metadata }) => metadata.name)
      .join(',')
    if (note.status?.child === child) return
    const patch = { status: { child } }
    await hand.client.patch(Notes, keyOf(note), { type: 'merge', patch }, { subresource: 'status' })
  },
})

/** Adds an annotation to the Note: with its current version, but with what the view shows. */
export const writesBackOldNotes = byHand('writes-back-old-notes', {
  reconcile: async (hand) => {
    const note = living(hand)
    if (note === undefined || note.metadata.annotations?.seen !== undefined) return goodReconcile(hand)
    const { resourceVersion } = (await hand.client.get(Notes, keyOf(note))).metadata
    const annotations = { ...note.metadata.annotations, seen: 'yes' }
    return hand.client.update(Notes, { ...note, metadata: { ...note.metadata, resourceVersion, annotations } })
  },
})

/** Looks for its child right after creating it, in a view that does not have it yet, and reports that it is missing. */
export const missesItsOwnChild = byHand('misses-its-own-child', {
  reconcile: async (hand) => {
    await goodReconcile(hand)
    const note = living(hand)
    const latest = note && (await hand.client.get(Notes, keyOf(note)).catch(ignoreMissing))
    if (latest === undefined || latest.metadata.uid !== note?.metadata.uid) return
    const status = hand.configMaps.has(hand.name) ? 'False' : 'True'
    const known = latest.status?.conditions
    const degraded = { type: 'Degraded', status, reason: 'Looked', message: '' } as const
    const conditions = setCondition(known, degraded, hand.place.clock)
    if (conditions === known) return
    await hand.client.update(Notes, { ...latest, status: { ...latest.status, conditions } }, { subresource: 'status' })
  },
})

/** Replaces its child when it finds a label on it, and forgets the owner that it set on creation. */
export const replacesWhatOthersLabel = byHand('replaces-what-others-label', {
  reconcile: async (hand) => {
    const note = living(hand)
    const child = hand.configMaps.get(hand.name)
    if (note === undefined || child === undefined || child.metadata.labels === undefined) return goodReconcile(hand)
    const { resourceVersion } = child.metadata
    const metadata = { ...keyOf(note), resourceVersion }
    await hand.client.update(ConfigMaps, { ...child, metadata, data: dataOf(note) } as ConfigMap)
  },
})
