/** Broken operators that use the runtime. */
import { ConfigMaps, isAlreadyExists } from '@reeve/kube'
import { defineOperator } from '@reeve/runtime'
import { controllerReference } from '@reeve/runtime/owner-references'
import type { OperatorUnderTest } from '../../src/index.ts'
import { report } from './good-hand.ts'
import { dataOf, Notes } from './notes.ts'
import { LABELS, rendered, renderedNote, withReconcile } from './on-the-runtime.ts'

/** Every reconcile fails. */
export const alwaysFails = withReconcile('always-fails', () => async () => {
  throw new Error('not today')
})

/** Reconciles every second, forever. */
export const looksTooOften = withReconcile('looks-too-often', (place, client) => async ({ object: note }) => {
  if (note === undefined || note.metadata.deletionTimestamp !== undefined) return
  await report({ client, place }, note)
  return { requeueAfterMs: 1_000 }
})

/** Writes through a client that does not know who leads. */
export const writesWithoutTheLease = withReconcile(
  'writes-without-the-lease',
  (place, unfenced) =>
    async ({ object: note, cache }) => {
      if (note === undefined || note.metadata.deletionTimestamp !== undefined) return
      const { namespace = '', name } = note.metadata
      const metadata = { name, namespace, labels: LABELS, ownerReferences: [controllerReference(note)] }
      if (cache.get(ConfigMaps, { namespace, name }) === undefined) {
        const child = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: dataOf(note) }
        await unfenced.create(ConfigMaps, child).catch((error: unknown) => {
          if (!isAlreadyExists(error)) throw error
        })
      }
      await report({ client: unfenced, place }, note)
    },
)

/** All its instances have one identity: each takes the lease of another one for its own. */
export const sharesItsIdentity: OperatorUnderTest = {
  ...rendered,
  name: 'shares-its-identity',
  start: ({ leaderElection, ...place }, client) =>
    rendered.start({ ...place, leaderElection: leaderElection && { ...leaderElection, identity: 'notes' } }, client),
}

/** Renders another object each time. */
export const rendersAtRandom: OperatorUnderTest = {
  ...rendered,
  name: 'renders-at-random',
  start({ clock, random, logger, metrics, leaderElection }, client) {
    const render: typeof renderedNote.render = (note) =>
      renderedNote
        .render(note)
        .map(({ object, ...desired }) => ({ ...desired, object: { ...object, data: { at: `${random()}` } } }))
    const operator = defineOperator({ name: 'notes', controllers: [{ ...renderedNote, render }] })
    return operator.create({ client, clock, random, logger, metrics, ...(leaderElection && { leaderElection }) })
      .manager
  },
}

/** Takes every failure for final: what has failed once is never tried again. */
export const givesUp = withReconcile(
  'gives-up',
  () => {
    return async ({ object: note, client }) => {
      if (note === undefined || note.metadata.deletionTimestamp !== undefined || note.status?.child === 'failed') return
      const { namespace = '', name } = note.metadata
      const metadata = { name, namespace, labels: LABELS, ownerReferences: [controllerReference(note)] }
      const child = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: dataOf(note) }
      const patch = (text: string) => ({ type: 'merge', patch: { status: { child: text } } }) as const
      try {
        await client.apply(ConfigMaps, child, { force: true })
        if (note.status?.child !== 'made')
          await client.patch(Notes, { namespace, name }, patch('made'), { subresource: 'status' })
      } catch {
        await client.patch(Notes, { namespace, name }, patch('failed'), { subresource: 'status' })
      }
    }
  },
  { goal: () => undefined },
)
