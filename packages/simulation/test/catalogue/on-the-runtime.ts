/** Operators of the catalogue that use the runtime. */
import { ConfigMaps, type KubeClient } from '@reeve/kube'
import { type Component, defineOperator, desired, setCondition } from '@reeve/runtime'
import type { Reconcile } from '@reeve/runtime/controller'
import type { RenderController } from '@reeve/runtime/operator'
import type { OperatorUnderTest, Place } from '../../src/index.ts'
import { dataOf, FULL, type Note, NoteCrd, Notes } from './notes.ts'

export const LABELS = { 'app.kubernetes.io/managed-by': 'notes' }
const owns = [{ resource: ConfigMaps, labelSelector: 'app.kubernetes.io/managed-by=notes' }]

/** An operator with its own reconcile function. */
export function withReconcile(
  name: string,
  reconcile: (place: Place, client: KubeClient) => Reconcile<Note>,
  more: Partial<OperatorUnderTest> = {},
): OperatorUnderTest {
  return {
    name,
    crds: [NoteCrd],
    hasElection: true,
    exampleSpecs: [FULL],
    start(place, client) {
      const { clock, random, logger, metrics, leaderElection } = place
      const operator = defineOperator({
        name: 'notes',
        controllers: [{ for: Notes, owns, reconcile: reconcile(place, client) }],
      })
      const shared = { client, clock, random, logger, metrics }
      return operator.create({ ...shared, ...(leaderElection && { leaderElection }) }).manager
    },
    ...more,
  }
}

/** What the engine makes of a Note, and reports of it. */
export const renderedNote: RenderController<Note> = {
  for: Notes,
  owns,
  render: (note) => {
    const { name, namespace } = note.metadata
    return [desired(ConfigMaps, { metadata: { name, namespace, labels: LABELS }, data: dataOf(note) })]
  },
  report: ({ primary: { metadata, status }, failure, clock: now }) => {
    const { generation } = metadata
    const ready = { type: 'Ready', ...(generation !== undefined && { observedGeneration: generation }) }
    const state =
      failure === undefined
        ? ({ ...ready, status: 'True', reason: 'Done' } as const)
        : ({ ...ready, status: 'False', reason: 'Failed', message: failure.message } as const)
    return { status: { ...status, conditions: setCondition(status?.conditions, state, now) } }
  },
}

/** The engine does everything: one pure function. */
export const rendered: OperatorUnderTest = {
  name: 'rendered',
  crds: [NoteCrd],
  hasElection: true,
  exampleSpecs: [FULL],
  start({ clock, random, logger, metrics, leaderElection }, client) {
    const operator = defineOperator({
      name: 'notes',
      controllers: [renderedNote],
    })
    return operator.create({ client, clock, random, logger, metrics, ...(leaderElection && { leaderElection }) })
      .manager
  },
}

/** Has a record outside as long as the Note, and quotes every failure in its status. */
export const recordedOnTheRuntime: OperatorUnderTest = {
  ...rendered,
  name: 'recorded-on-the-runtime',
  inertFields: ['spec'],
  start({ clock, random, logger, metrics, leaderElection, outside }, client) {
    const record: Component<Note> = {
      name: 'record',
      async resolve({ primary: { metadata }, requireLivePrimary }) {
        await requireLivePrimary()
        await outside.create(metadata.name, 'made', metadata.uid)
        return undefined
      },
      async finalize({ key: { name } }) {
        for (const { id, name: of } of await outside.list()) if (of === name) await outside.remove(id)
        return undefined
      },
    }
    const { for: notes, owns, report } = renderedNote
    const finalizer = 'example.com/records'
    const operator = defineOperator({
      name: 'notes',
      controllers: [{ for: notes, ...(owns && { owns }), ...(report && { report }), finalizer, components: [record] }],
    })
    return operator.create({ client, clock, random, logger, metrics, ...(leaderElection && { leaderElection }) })
      .manager
  },
}
