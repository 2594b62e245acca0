/** A correct operator whose replicas divide the Notes among themselves, and what users do with Notes of all shards. */
import { ConfigMaps, type KubeClient, type ObjectKey } from '@reeve/kube'
import { defineOperator } from '@reeve/runtime'
import type { ControllerDefinition } from '@reeve/runtime/operator'
import { controllerReference } from '@reeve/runtime/owner-references'
import type { OperatorUnderTest, Place, Scenario } from '../../src/index.ts'
import { dataOf, FULL, type Note, NoteCrd, Notes } from './notes.ts'
import { LABELS, renderedNote } from './on-the-runtime.ts'

const SHARDS = 2
const owns = [{ resource: ConfigMaps, labelSelector: 'app.kubernetes.io/managed-by=notes' }]
const lease = { namespace: 'default', name: 'notes' }

type Definition = (client: KubeClient) => ControllerDefinition<Note>

/** The engine does everything: its writes are guarded. */
const rendered: Definition = () => ({ ...renderedNote, concurrency: 2 })

/** Overwrites whatever is there, so that only the lease of its shard keeps it from disturbing another replica. */
const forcing =
  (isFenced: boolean): Definition =>
  (unfenced) => ({
    for: Notes,
    owns,
    reconcile: async ({ object, key, cache, client, signal }) => {
      if (object === undefined || object.metadata.deletionTimestamp !== undefined) return
      const data = dataOf(object)
      if (cache.get(ConfigMaps, key)?.data?.text === data.text) return
      const metadata = { ...key, labels: LABELS, ownerReferences: [controllerReference(object)] }
      const child = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
      if (isFenced) await client.apply(ConfigMaps, child, { force: true, signal })
      else await unfenced.apply(ConfigMaps, child, { force: true })
    },
  })

function replica(place: Place, client: KubeClient, identity: string, definition: Definition) {
  const { clock, random, logger, metrics } = place
  const operator = defineOperator({ name: 'notes', controllers: [definition(client)] })
  const sharding = { lease, shards: SHARDS, identity, random }
  return operator.create({ client, clock, random, logger, metrics, sharding }).manager
}

function sharded(
  name: string,
  replicas: number,
  definition: Definition,
  more: Partial<OperatorUnderTest> = {},
): OperatorUnderTest {
  return {
    name,
    crds: [NoteCrd],
    hasElection: true,
    exampleSpecs: [FULL],
    start(place, client) {
      const managers = Array.from({ length: replicas }, (_, at) =>
        replica(place, client, `${place.identity}-${at}`, definition),
      )
      return { run: async (signal) => void (await Promise.all(managers.map((manager) => manager.run(signal)))) }
    },
    ...more,
  }
}

/** @param replicas of each instance: what ends or is cut off, ends or is cut off with all of them */
export const shardedNotes = (replicas: number): OperatorUnderTest =>
  sharded(`sharded-notes-${replicas}`, replicas, rendered)

const withoutStatus = { goal: () => undefined }

/** Correct, because it writes with the client of its reconcile. */
export const shardedByForce = sharded('sharded-by-force', 1, forcing(true), withoutStatus)

/** Broken: writes with a client that does not know which shards this replica holds. */
export const writesWithoutTheShard = sharded('writes-without-the-shard', 1, forcing(false), withoutStatus)

const names = ['shopping', 'garden', 'office', 'travel']
const keyOf = (name: string): ObjectKey => ({ namespace: 'default', name })
const note = (name: string, text: string): Note => ({
  apiVersion: 'example.com/v1',
  kind: 'Note',
  metadata: keyOf(name),
  spec: { text },
})

/** Notes of both shards are made, edited, deleted and made again. */
export const shardedScenario: Scenario = {
  name: 'life of Notes in two shards',
  steps: [
    {
      name: 'create',
      act: async ({ client }) => {
        for (const name of names) await client.create(Notes, note(name, 'milk'))
      },
    },
    {
      name: 'edit',
      act: async ({ client }) => {
        for (const name of names)
          await client.patch(Notes, keyOf(name), { type: 'merge', patch: { spec: { text: 'tea' } } })
      },
    },
    {
      name: 'delete',
      act: async ({ client }) => {
        for (const name of names) await client.delete(Notes, keyOf(name))
      },
    },
    { name: 'create again', act: ({ client }) => client.create(Notes, note('garden', 'rake')) },
  ],
}
