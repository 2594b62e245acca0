/** A small custom resource with conditions, and a cluster that serves it. */
import { conditions, crdManifest, defineCrd, type ObjectOf } from '@reeve/crd'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import { SimulatedClock } from '@reeve/http/testing'
import { ConfigMaps, CustomResourceDefinitions, createClient, Events, type KubeClient, type Stored } from '@reeve/kube'
import { desired } from '@reeve/runtime'
import { createMetricsRegistry, type MetricsRegistry } from '@reeve/runtime/metrics'
import { Type } from 'typebox'

const v1 = {
  spec: Type.Object({ text: Type.String() }),
  status: Type.Object({ said: Type.Optional(Type.String()), conditions: Type.Optional(conditions()) }),
}
const NoteCrd = defineCrd({
  group: 'example.com',
  kind: 'Note',
  plural: 'notes',
  scope: 'Namespaced',
  versions: { v1 },
})

/** Objects with a text. */
export const Notes = NoteCrd.resource('v1')
export type Note = ObjectOf<typeof v1>

const labels = { app: 'notes' }
/** What {@link renderNote} renders, as a controller owns it. */
export const owns = [{ resource: ConfigMaps, labelSelector: 'app=notes' }]
/** Of the note that {@link NotesWorld.declare} creates, and of its ConfigMap. */
export const key = { namespace: 'default', name: 'n' }

/** A ConfigMap with the text. */
export function renderNote({ metadata: { name, namespace }, spec }: Stored<Note>) {
  return [
    desired(ConfigMaps, { metadata: { name, ...(namespace && { namespace }), labels }, data: { text: spec.text } }),
  ]
}

/** See {@link notesWorld}. */
export interface NotesWorld {
  readonly clock: SimulatedClock
  readonly cluster: EmbeddedCluster
  readonly client: KubeClient
  readonly metrics: MetricsRegistry
  declare(text: string): Promise<Stored<Note>>
  edit(patch: Readonly<Record<string, unknown>>): Promise<Stored<Note>>
  /** The conditions of the note as `type=status reason`. */
  conditions(): Promise<readonly string[]>
  /** The text in the ConfigMap. */
  text(): Promise<string | undefined>
  /** The events as `type reason`. */
  events(): Promise<readonly string[]>
  /** The value of a metric without labels but the controller. */
  metric(name: string): Promise<number>
}

/** A cluster without sockets on a simulated clock. */
export async function notesWorld(): Promise<NotesWorld> {
  const clock = new SimulatedClock()
  const cluster = await startEmbeddedCluster({ listen: false, clock })
  const client = createClient({ clock, transport: cluster.transport })
  const metrics = await createMetricsRegistry()
  await client.create(CustomResourceDefinitions, crdManifest(NoteCrd))
  return {
    clock,
    cluster,
    client,
    metrics,
    declare: (text) =>
      client.create(Notes, { apiVersion: 'example.com/v1', kind: 'Note', metadata: key, spec: { text } }),
    edit: (patch) => client.patch(Notes, key, { type: 'merge', patch }),
    conditions: async () =>
      ((await client.get(Notes, key)).status?.conditions ?? []).map(
        ({ type, status, reason }) => `${type}=${status} ${reason}`,
      ),
    text: async () => (await client.get(ConfigMaps, key)).data?.text,
    events: async () => (await client.listAll(Events)).items.map(({ type, reason }) => `${type} ${reason}`),
    metric: async (name) => {
      const line = (await metrics.expose()).split('\n').find((one) => one.startsWith(`${name}{`))
      return Number(line?.split(' ').at(-1))
    },
  }
}
