/** A small operator, written correctly: a Box becomes ConfigMaps and a record in a service outside the cluster. */
import { defineCrd, type ObjectOf } from '@reeve/crd'
import { ConfigMaps, type KubeClient, type Stored } from '@reeve/kube'
import { desired } from '@reeve/runtime'
import { Cache } from '@reeve/runtime/cache'
import { ComponentEngine } from '@reeve/runtime/components'
import { Controller, type Reconcile } from '@reeve/runtime/controller'
import { withFinalizer } from '@reeve/runtime/finalizers'
import { createManager } from '@reeve/runtime/manager'
import { Type } from 'typebox'
import type { OperatorUnderTest, Place, Scenario } from '../../src/index.ts'

const v1 = {
  spec: Type.Object({
    text: Type.String({ minLength: 1 }),
    items: Type.Optional(Type.Record(Type.String(), Type.String())),
    lid: Type.Optional(Type.Boolean()),
  }),
  status: Type.Object({ text: Type.Optional(Type.String()) }),
} as const

const BoxCrd = defineCrd({
  group: 'example.com',
  kind: 'Box',
  plural: 'boxes',
  scope: 'Namespaced',
  versions: { v1 },
})

export const Boxes = BoxCrd.resource('v1')
export type Box = ObjectOf<typeof v1>

export const LABELS = { 'app.kubernetes.io/managed-by': 'boxes' }
const FINALIZER = 'example.com/boxes'

/** What differs between the correct operator and the broken ones. */
export interface BoxParts {
  readonly reconcile: (place: Place, client: KubeClient) => Reconcile<Box>
  /** Runs once, before the controller. */
  readonly atStart?: (client: KubeClient) => Promise<void>
}

/** Puts an operator together from its parts. */
export function boxOperator(name: string, parts: BoxParts): OperatorUnderTest {
  return {
    name,
    crds: [BoxCrd],
    hasElection: true,
    start(place, client) {
      const { clock, random, logger, leaderElection } = place
      const shared = { clock, random, logger }
      const cache = new Cache(client, { ...shared, fieldManager: 'boxes' })
      const manager = createManager<Cache>({ client, cache, clock, logger, ...(leaderElection && { leaderElection }) })
      const labelSelector = Object.entries(LABELS)
        .map((entry) => entry.join('='))
        .join(',')
      const boxes = new Controller(
        {
          name: 'box',
          for: Boxes,
          owns: [{ resource: ConfigMaps, labelSelector }],
          reconcile: parts.reconcile(place, client),
        },
        { cache, client: manager.client, ...shared },
      )
      manager.add(boxes)
      return {
        run: async (signal) => {
          // What could not be swept now is swept at the next start.
          await parts.atStart?.(client).catch((error: unknown) => logger.warn({ err: error }, 'could not sweep'))
          await manager.run(signal)
        },
      }
    },
    exampleSpecs: [{ text: 'full', items: { one: '1', two: '2' }, lid: true }],
  }
}

/** The content of a Box, as the data of its ConfigMap. */
export function contentsOf({ spec }: Pick<Box, 'spec'>): Record<string, string> {
  return { text: spec.text, ...spec.items }
}

/** Only the apply engine. */
export const applyReconcile = () =>
  new ComponentEngine<Box>({
    resource: Boxes,
    owned: [ConfigMaps],
    fieldManager: 'boxes',
    components: [{ name: 'contents', render: ({ primary }) => renderBox(primary) }],
    report: ({ primary: { spec, status }, failure }) => ({ status: failure ? status : { text: spec.text } }),
  }).reconcile

function renderBox(box: Stored<Box>) {
  const { name, namespace } = box.metadata
  const configMap = (suffix: string, data: Record<string, string>) =>
    desired(ConfigMaps, { metadata: { name: `${name}${suffix}`, namespace, labels: LABELS }, data })
  return [configMap('', contentsOf(box)), ...(box.spec.lid ? [configMap('-lid', { closed: 'yes' })] : [])]
}

/** A correct operator: the engine, a finalizer, an idempotency key. */
export function correctReconcile(place: Place): Reconcile<Box> {
  const reconcile = applyReconcile()
  return async (request) => {
    const { object, client, signal } = request
    if (object === undefined) return
    await withFinalizer(object, {
      client,
      resource: Boxes,
      finalizer: FINALIZER,
      signal,
      reconcile: async (box) => {
        await place.outside.create(box.metadata.name ?? '', 'made', box.metadata.uid)
        return reconcile(request)
      },
      cleanup: async (box) => {
        for (const record of await place.outside.list()) {
          if (record.name === box.metadata.name) await place.outside.remove(record.id)
        }
        return 'done' as const
      },
    })
  }
}

/** ConfigMaps whose Box was deleted, from a list that may be old, deleted only in the incarnation that was seen. */
export async function sweep(client: KubeClient, guard: boolean): Promise<void> {
  const selection = { labelSelector: 'app.kubernetes.io/managed-by=boxes' }
  const { items } = await client.list(ConfigMaps, { ...selection, resourceVersion: '0' })
  const boxes = await client.listAll(Boxes)
  const owners = new Set(boxes.items.map(({ metadata }) => metadata.uid))
  for (const { metadata } of items) {
    const owner = metadata.ownerReferences?.find(({ kind }) => kind === 'Box')
    // What no Box ever owned is not swept, whatever its labels.
    if (owner === undefined || owners.has(owner.uid)) continue
    const { uid, resourceVersion, namespace, name } = metadata
    const key = { name, ...(namespace !== undefined && { namespace }) }
    const options = guard ? { preconditions: { uid, resourceVersion } } : {}
    // Deleted, or replaced meanwhile: nothing to sweep.
    await client.delete(ConfigMaps, key, options).catch(() => undefined)
  }
}

export const correctOperator = boxOperator('boxes', {
  reconcile: correctReconcile,
  atStart: (client) => sweep(client, true),
})

const key = { namespace: 'default', name: 'gift' }
const gift = (spec: Box['spec']): Box => ({ apiVersion: 'example.com/v1', kind: 'Box', metadata: key, spec })

/** A Box is made, changed, closed, opened, deleted and made again. */
export const boxScenario: Scenario = {
  name: 'life of a Box',
  steps: [
    { name: 'create', act: ({ client }) => client.create(Boxes, gift({ text: 'hello', items: { a: '1' } })) },
    {
      name: 'close',
      act: ({ client }) => client.patch(Boxes, key, { type: 'merge', patch: { spec: { lid: true } } }),
    },
    { name: 'delete', act: ({ client }) => client.delete(Boxes, key) },
    { name: 'create again', act: ({ client }) => client.create(Boxes, gift({ text: 'again' })) },
  ],
}
