/** Correct operators in styles that differ from the usual one. */
import { createHash } from 'node:crypto'
import { conditions, defineCrd } from '@reeve/crd'
import { ConfigMaps, isConflict } from '@reeve/kube'
import { defineOperator, desired } from '@reeve/runtime'
import { Type } from 'typebox'
import type { OperatorUnderTest } from '../../src/index.ts'
import { byHand } from './by-hand.ts'
import { childOf, isCurrent, isOwned, keyOf, living, report } from './good-hand.ts'
import { ignoreMissing } from './good-records.ts'
import { dataOf, FULL, NoteCrd, Notes } from './notes.ts'

/**
 * Its child is never changed: another one, named after its content, takes its place, and then the old one is deleted.
 */
export const contentAddressed = byHand('content-addressed', {
  reconcile: async (hand) => {
    const { client, configMaps, notes } = hand
    for (const name of notes.keys()) {
      const note = living({ ...hand, name })
      if (note === undefined) continue
      const hash = createHash('sha256').update(JSON.stringify(Object.entries(dataOf(note)).sort()))
      const wanted = `${name}-${hash.digest('hex').slice(0, 8)}`
      const seen = configMaps.get(wanted)
      if (seen === undefined && !(await isCurrent(client, note))) continue
      const child =
        seen ??
        (await client.apply(ConfigMaps, { ...childOf(note, wanted), immutable: true }).catch(async (error: unknown) => {
          if (!isConflict(error)) throw error
          return client.get(ConfigMaps, { ...keyOf(note), name: wanted })
        }))
      if (!isOwned(child, note)) {
        await report(hand, note, `configmaps ${wanted} exists and belongs to someone else`)
        continue
      }
      const old = [...configMaps.values()].filter((map) => isOwned(map, note) && map.metadata.name !== wanted)
      for (const { metadata } of old) {
        const { uid, namespace = '' } = metadata
        if (await isCurrent(client, note))
          await client
            .delete(ConfigMaps, { namespace, name: metadata.name }, { preconditions: { uid } })
            .catch(ignoreMissing)
      }
      await report(hand, note)
    }
  },
})

/** What a Note is printed on. */
const Page = {
  spec: Type.Object({ lines: Type.Record(Type.String(), Type.String()) }),
  status: Type.Object({ conditions: Type.Optional(conditions()) }),
} as const
const PageCrd = defineCrd({
  group: 'example.com',
  kind: 'Page',
  plural: 'pages',
  scope: 'Namespaced',
  versions: { v1: Page },
})
const Pages = PageCrd.resource('v1')

/** Two controllers: one makes Pages of Notes, the other makes ConfigMaps of Pages. */
export const inTwoStages: OperatorUnderTest = {
  name: 'in-two-stages',
  crds: [NoteCrd, PageCrd],
  hasElection: true,
  exampleSpecs: [FULL],
  start({ clock, random, logger, metrics, leaderElection }, client) {
    const operator = defineOperator({
      name: 'pages',
      controllers: [
        {
          for: Notes,
          owns: [Pages],
          render: (note) => {
            const { name, namespace } = note.metadata
            return [desired(Pages, { metadata: { name, namespace }, spec: { lines: dataOf(note) } })]
          },
        },
        {
          for: Pages,
          owns: [{ resource: ConfigMaps, labelSelector: 'printed=yes' }],
          render: ({ metadata: { name, namespace }, spec }) => [
            desired(ConfigMaps, {
              metadata: { name: `${name}-page`, namespace, labels: { printed: 'yes' } },
              data: spec.lines,
            }),
          ],
        },
      ],
    })
    return operator.create({ client, clock, random, logger, metrics, ...(leaderElection && { leaderElection }) })
      .manager
  },
  goal: () => undefined,
}
