/** Ways to get it wrong, each a bug that real operators shipped. */
import { ConfigMaps, isAlreadyExists, isNotFound } from '@reeve/kube'
import { addFinalizer, hasFinalizer, removeFinalizer } from '@reeve/runtime/finalizers'
import { controllerReference } from '@reeve/runtime/owner-references'
import { Boxes, boxOperator, contentsOf, correctReconcile, LABELS, sweep } from './boxes.ts'

/** At its start it sweeps by name what an old list shows as orphaned: a new object of that name is deleted. */
export const deletesWithoutPreconditions = boxOperator('deletes-without-preconditions', {
  reconcile: correctReconcile,
  atStart: (client) => sweep(client, false),
})

/** Makes a ConfigMap under a new name when its cache shows none, through a client whose writes the cache ignores. */
export const assumesOwnWriteIsVisible = boxOperator('assumes-own-write-is-visible', {
  reconcile:
    ({ random }, untracked) =>
    async ({ object: box, cache, client }) => {
      if (box === undefined || box.metadata.deletionTimestamp !== undefined) return
      const { namespace = '', name, uid } = box.metadata
      const own = cache
        .list(ConfigMaps, { namespace })
        .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid))
      if (own.length === 0) {
        await untracked.create(ConfigMaps, {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: {
            name: `${name}-${random().toString(36).slice(2, 8)}`,
            namespace,
            labels: LABELS,
            ownerReferences: [controllerReference(box)],
          },
          data: contentsOf(box),
        })
      }
      if (box.status?.text === box.spec.text) return
      await client.update(Boxes, { ...box, status: { text: box.spec.text } }, { subresource: 'status' })
    },
})

/** Merges what is declared into the existing object: a key that is no longer declared stays. */
export const forgetsRemovedKey = boxOperator('forgets-removed-key', {
  reconcile:
    () =>
    async ({ object: box, cache, client }) => {
      if (box === undefined || box.metadata.deletionTimestamp !== undefined) return
      const { namespace = '', name } = box.metadata
      const key = { namespace, name }
      const data = contentsOf(box)
      const live = cache.get(ConfigMaps, key)
      const isThere = live !== undefined && Object.entries(data).every(([item, value]) => live.data?.[item] === value)
      if (isThere) return
      const metadata = { ...key, labels: LABELS, ownerReferences: [controllerReference(box)] }
      if (live === undefined) {
        await client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
        return
      }
      await client.patch(ConfigMaps, key, { type: 'merge', patch: { data } })
    },
})

/**
 * Makes what is missing for every Box that its cache shows, also for a deleted one: the garbage collector deletes
 * it, and it is made again, as fast as both can.
 */
export const makesForTheDead = boxOperator('makes-for-the-dead', {
  reconcile:
    () =>
    async ({ object: box, cache, client }) => {
      if (box === undefined || box.metadata.deletionTimestamp !== undefined) return
      const { namespace = '', name } = box.metadata
      if (cache.get(ConfigMaps, { namespace, name }) !== undefined) return
      const metadata = { name, namespace, labels: LABELS, ownerReferences: [controllerReference(box)] }
      await client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: {} })
    },
})

/** Patches in every reconcile, whether anything differs or not, twice a minute. */
export const patchesForNothing = boxOperator('patches-for-nothing', {
  reconcile:
    () =>
    async ({ object: box, client }) => {
      if (box === undefined || box.metadata.deletionTimestamp !== undefined) return
      const { namespace = '', name } = box.metadata
      const metadata = { name, namespace, labels: LABELS, ownerReferences: [controllerReference(box)] }
      const data = contentsOf(box)
      await client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }).catch((error) => {
        if (!isAlreadyExists(error)) throw error
      })
      await client.patch(ConfigMaps, { namespace, name }, { type: 'merge', patch: { data } })
      return { requeueAfterMs: 30_000 }
    },
})

/** Reports the time of the last reconcile: every reconcile is a write that causes another one. */
export const reportsEveryLook = boxOperator('reports-every-look', {
  reconcile:
    ({ clock }) =>
    async ({ object: box, client }) => {
      if (box === undefined || box.metadata.deletionTimestamp !== undefined) return
      const { namespace = '', name } = box.metadata
      const patch = { status: { text: `seen ${clock.now()}` } }
      await client.patch(Boxes, { namespace, name }, { type: 'merge', patch }, { subresource: 'status' })
      return { requeueAfterMs: 30_000 }
    },
})

/** Draws a name for its ConfigMap and records it in the status: a crash in between leaves an unknown one. */
export const drawsNames = boxOperator('draws-names', {
  reconcile:
    ({ random }) =>
    async ({ object: box, cache, client }) => {
      if (box === undefined || box.metadata.deletionTimestamp !== undefined) return
      const { namespace = '', name } = box.metadata
      const known = box.status?.text
      if (known !== undefined && cache.get(ConfigMaps, { namespace, name: known }) !== undefined) return
      const drawn = `${name}-${random().toString(36).slice(2, 8)}`
      const metadata = { name: drawn, namespace, labels: LABELS, ownerReferences: [controllerReference(box)] }
      await client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: contentsOf(box) })
      const patch = { status: { text: drawn } }
      await client.patch(Boxes, { namespace, name }, { type: 'merge', patch }, { subresource: 'status' })
    },
})

const FINALIZER = 'example.com/early'

/** Removes the finalizer first and cleans up afterwards: a crash in between leaves the record outside forever. */
export const removesFinalizerTooEarly = boxOperator('removes-finalizer-too-early', {
  reconcile:
    ({ outside }) =>
    async ({ object: box, client, signal }) => {
      if (box === undefined) return
      if (box.metadata.deletionTimestamp === undefined) {
        await addFinalizer(client, Boxes, box, FINALIZER, { signal })
        await outside.create(box.metadata.name, 'made', box.metadata.uid)
        return
      }
      if (!hasFinalizer(box, FINALIZER)) return
      await removeFinalizer(client, Boxes, box, FINALIZER, { signal }).catch((error) => {
        if (!isNotFound(error)) throw error
      })
      for (const record of await outside.list()) {
        if (record.name === box.metadata.name) await outside.remove(record.id)
      }
    },
})
