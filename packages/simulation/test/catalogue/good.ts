/** Correct operators, each with something that an exploration might take for a bug. */
import { ConfigMaps, PersistentVolumeClaims, Services } from '@reeve/kube'
import { defineOperator, desired, formatTime } from '@reeve/runtime'
import { controllerReference } from '@reeve/runtime/owner-references'
import type { OperatorUnderTest } from '../../src/index.ts'
import { byHand } from './by-hand.ts'
import { createChild, goodReconcile, isCurrent, isOwned, isSame, living, report } from './good-hand.ts'
import { expiring, generated, recorded } from './good-records.ts'
import { contentAddressed, inTwoStages } from './good-unusual.ts'
import { dataOf, FULL, NoteCrd, Notes } from './notes.ts'
import { recordedOnTheRuntime, rendered } from './on-the-runtime.ts'

/** Not on the runtime. */
const handmade = byHand('handmade', { reconcile: goodReconcile })

/** Adopts objects with the name that it needs, and declares that. */
const adopter = byHand(
  'adopter',
  {
    reconcile: async (hand) => {
      const note = living(hand)
      if (note === undefined) return
      const seen = hand.configMaps.get(hand.name)
      if (seen === undefined && !(await isCurrent(hand.client, note))) return
      const child = seen ?? (await createChild(hand.client, note))
      if (!isOwned(child, note) && !(await isCurrent(hand.client, note))) return
      const data = dataOf(note)
      const ownerReferences = isOwned(child, note)
        ? child.metadata.ownerReferences
        : [{ ...controllerReference(note), controller: false }]
      if (!isOwned(child, note) || !isSame(child.data, data)) {
        const metadata = { ...child.metadata, ...(ownerReferences && { ownerReferences }) }
        await hand.client.update(ConfigMaps, { ...child, metadata, data })
      }
      await report(hand, note)
    },
  },
  { adopts: ['configmaps *'] },
)

/** Records, with the time of the process, when a Note was first seen and until when it counts. */
const dated = byHand('dated', {
  reconcile: async (hand) => {
    const note = living(hand)
    if (note === undefined || note.status?.at !== undefined) return goodReconcile(hand)
    const [first, until] = [Date.now(), Date.now() + 90 * 24 * 3_600_000].map((ms) => formatTime(ms))
    const status = { ...note.status, at: `${first}/${until}` }
    return hand.client.update(Notes, { ...note, status }, { subresource: 'status' })
  },
})

/** Draws a password once, and keeps it: also one that a user sets. */
const drawsOnce = byHand(
  'draws-once',
  {
    reconcile: async (hand) => {
      const note = living(hand)
      if (note === undefined) return
      const child = hand.configMaps.get(hand.name)
      const access = child?.data?.access ?? crypto.randomUUID()
      const spec = { ...note.spec, extras: { ...note.spec.extras, access } }
      await goodReconcile({ ...hand, notes: new Map([[hand.name, { ...note, spec }]]) })
    },
  },
  {
    normalise: (_, object) => {
      const { access, ...data } = (object.data ?? {}) as { readonly access?: string }
      const isDrawn = access !== undefined && /^[0-9a-f-]{36}$/.test(access)
      return isDrawn ? { ...object, data: { ...data, access: '<drawn>' } } : object
    },
  },
)

/** Has objects in which the server chooses names, addresses and ports. */
const served: OperatorUnderTest = {
  ...rendered,
  name: 'served',
  start({ clock, random, logger, metrics, leaderElection }, client) {
    const operator = defineOperator({
      name: 'served',
      controllers: [
        {
          for: Notes,
          owns: [Services, PersistentVolumeClaims],
          render: ({ metadata: { name, namespace }, spec }) => [
            desired(Services, {
              metadata: { name, namespace, annotations: { text: spec.text, ...spec.extras } },
              spec: { type: 'NodePort', selector: { app: name }, ports: [{ port: 80 + (spec.copies ?? 1) }] },
            }),
            desired(PersistentVolumeClaims, {
              metadata: { name, namespace },
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
            }),
          ],
        },
      ],
    })
    return operator.create({ client, clock, random, logger, metrics, ...(leaderElection && { leaderElection }) })
      .manager
  },
  crds: [NoteCrd],
  exampleSpecs: [FULL],
  goal: () => undefined,
}

export const good: readonly OperatorUnderTest[] = [
  rendered,
  handmade,
  adopter,
  dated,
  drawsOnce,
  served,
  recorded,
  recordedOnTheRuntime,
  expiring,
  generated,
  contentAddressed,
  inTwoStages,
]
