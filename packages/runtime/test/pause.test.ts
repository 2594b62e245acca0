import { conditions, crdManifest, defineCrd } from '@reeve/crd'
import { CustomResourceDefinitions } from '@reeve/kube'
import { defineOperator } from '@reeve/runtime'
import { generationChanged } from '@reeve/runtime/controller'
import { Type } from 'typebox'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { key, Notes, type NotesWorld, notesWorld, owns, renderNote } from './support/notes.ts'

let world: NotesWorld
let stop: AbortController
let running: Promise<void>
let cleanUps: number

beforeEach(async () => {
  world = await notesWorld()
  cleanUps = 0
  const operator = defineOperator({
    name: 'notes',
    controllers: [
      {
        for: { resource: Notes, predicate: generationChanged },
        owns,
        render: renderNote,
        report: ({ primary: { spec, status } }) => ({ status: { ...status, said: spec.text } }),
        finalize: async () => {
          cleanUps += 1
          return undefined
        },
      },
    ],
  })
  stop = new AbortController()
  running = operator.create({ ...world }).manager.run(stop.signal)
  await world.declare('one')
  await world.clock.advance(5_000)
})
afterEach(async () => {
  stop.abort()
  await world.clock.runToCompletion(running)
  await world.cluster.stop()
})

const annotate = (value: string | null) => world.edit({ metadata: { annotations: { 'reeve.dev/paused': value } } })

describe('an object with the annotation reeve.dev/paused: "true"', () => {
  it('is not reconciled, and reports it in status, events and metrics', async () => {
    await annotate('true')
    await world.edit({ spec: { text: 'two' } })
    await world.clock.advance(60_000)
    expect(await world.text()).toBe('one')
    expect(await world.conditions()).toEqual(['Paused=True PausedByAnnotation'])
    expect(await world.events()).toEqual(['Normal Paused'])
    expect(await world.metric('reconcile_paused_objects')).toBe(1)
  })

  it('costs one write, however often it changes', async () => {
    await annotate('true')
    await world.clock.advance(5_000)
    const { writes } = world.cluster.requests
    await world.edit({ spec: { text: 'two' } })
    await world.clock.advance(36_000_000)
    expect(world.cluster.requests.writes).toBe(writes + 1)
  })

  it('is reconciled again once the annotation is removed', async () => {
    await annotate('true')
    await world.edit({ spec: { text: 'two' } })
    await world.clock.advance(5_000)
    await annotate(null)
    await world.clock.advance(5_000)
    expect(await world.text()).toBe('two')
    expect(await world.conditions()).toEqual([])
    expect(await world.events()).toEqual(['Normal Paused', 'Normal Resumed'])
    expect(await world.metric('reconcile_paused_objects')).toBe(0)
  })

  it('is not cleaned up: its deletion waits, and the status says why', async () => {
    await annotate('true')
    await world.clock.advance(5_000)
    await world.client.delete(Notes, key)
    await world.clock.advance(60_000)
    expect(cleanUps).toBe(0)
    const { status } = await world.client.get(Notes, key)
    expect(status?.conditions?.[0]?.message).toBe(
      'paused by the annotation reeve.dev/paused: the deletion waits until it is removed',
    )
    await annotate(null)
    await world.clock.advance(5_000)
    expect(cleanUps).toBe(1)
    await expect(world.client.get(Notes, key)).rejects.toThrow('not found')
  })

  it('is still paused when its schema has no place for the condition', async () => {
    // As if the status had required members that have not been written yet.
    const invalid = { kind: 'status', code: 422, reason: 'Invalid' } as const
    const match = { verb: 'update', resource: 'notes.example.com', subresource: 'status' } as const
    world.cluster.faults.inject(match, invalid, { times: Number.POSITIVE_INFINITY })
    await annotate('true')
    await world.edit({ spec: { text: 'two' } })
    await world.clock.advance(60_000)
    expect(await world.text()).toBe('one')
    expect(await world.events()).toEqual(['Normal Paused'])
  })

  it('is reconciled with any other value of the annotation', async () => {
    await annotate('false')
    await world.edit({ spec: { text: 'two' } })
    await world.clock.advance(5_000)
    expect(await world.text()).toBe('two')
  })

  it('reports it in groups of Kubernetes that come with a CRD, too', async () => {
    const status = Type.Object({ conditions: Type.Optional(conditions()) })
    const crd = defineCrd({
      group: 'gateway.networking.k8s.io',
      kind: 'Gate',
      plural: 'gates',
      scope: 'Namespaced',
      versions: { v1: { spec: Type.Object({}), status } },
    })
    const { metadata, ...manifest } = crdManifest(crd)
    const annotations = { 'api-approved.kubernetes.io': 'https://example.com' }
    await world.client.create(CustomResourceDefinitions, { ...manifest, metadata: { ...metadata, annotations } })
    const Gates = crd.resource('v1')
    const gates = defineOperator({ name: 'gates', controllers: [{ for: Gates, owns, render: () => [] }] })
    const ended = gates.create({ client: world.client, clock: world.clock }).manager.run(stop.signal)
    const paused = { ...key, annotations: { 'reeve.dev/paused': 'true' } }
    await world.client.create(Gates, { apiVersion: `${crd.group}/v1`, kind: 'Gate', metadata: paused, spec: {} })
    await world.clock.advance(5_000)
    const gate = await world.client.get(Gates, key)
    expect(gate.status?.conditions).toMatchObject([{ type: 'Paused', status: 'True' }])
    stop.abort()
    await world.clock.runToCompletion(ended)
  })
})
