import { ConfigMaps } from '@reeve/kube'
import { type Component, defineOperator, type ReconcileSummary, TerminalError } from '@reeve/runtime'
import type { Reconcile, ReconcileRecord } from '@reeve/runtime/controller'
import { anyController, type ControllerDefinition } from '@reeve/runtime/operator'
import { controllerReference } from '@reeve/runtime/owner-references'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { key, type Note, Notes, type NotesWorld, notesWorld, owns, renderNote } from './support/notes.ts'

/** A loop without end is visible as this many calls: then the service answers, so that the test ends. */
const ENDLESS = 200

let world: NotesWorld
let stop: AbortController
let running: Promise<void>
let records: ReconcileRecord[]
let calls: number
/** The service outside the cluster, whose failures have a text of their own each. */
let textOf: (call: number) => string

beforeEach(async () => {
  world = await notesWorld()
  stop = new AbortController()
  records = []
  calls = 0
  textOf = (call) => `the zone is locked (request ${call})`
})
afterEach(async () => {
  stop.abort()
  await world.clock.runToCompletion(running)
  await world.cluster.stop()
})

const onReconcile = (record: ReconcileRecord) => records.push(record)

async function callService(fail = (text: string): Error => new Error(text)): Promise<undefined> {
  calls++
  if (calls < ENDLESS) throw fail(textOf(calls))
  return undefined
}

/** Says why the last reconcile failed, as the template does. */
const report = ({ failure, primary }: ReconcileSummary<Note>) => ({
  status: { ...primary.status, said: failure?.message ?? 'done' },
})

type Definition = ControllerDefinition<Note>

/** Starts an operator, and declares a note. */
async function start(controller: Partial<Definition>): Promise<void> {
  const controllers = [anyController({ for: Notes, owns, onReconcile, ...controller } as Definition)]
  running = defineOperator({ name: 'notes', controllers })
    .create({ ...world })
    .manager.run(stop.signal)
  await world.declare('one')
}

const zone: Component<Note> = { name: 'zone', resolve: () => callService() }

describe('the backoff after a failure', () => {
  it('is kept although each failure has another text in the status', async () => {
    await start({ components: [zone], report })
    await world.clock.advance(60_000)
    // 0, 1, 3, 7, 15, 31 s, each with up to a tenth more
    expect(calls).toBe(6)
    expect((await world.client.get(Notes, key)).status?.said).toBe(textOf(6))
  })

  it('begins with the delay that is announced when the texts are equal', async () => {
    textOf = () => 'the zone is locked'
    await start({ components: [zone], report })
    await world.clock.advance(900)
    expect(calls).toBe(1)
    expect(records.at(-1)?.nextRunMs).toBeGreaterThanOrEqual((records[0]?.startedMs ?? 0) + 1_000)
    await world.clock.advance(300)
    expect(calls).toBe(2)
  })

  it('is kept while the clean-up before a deletion fails', async () => {
    await start({
      components: [{ name: 'zone', finalize: () => callService() }],
      finalizer: 'example.com/zone',
      report,
    })
    await world.clock.advance(5_000)
    await world.client.delete(Notes, key)
    await world.clock.advance(60_000)
    expect(calls).toBe(6)
  })

  it('is kept although every attempt changes an object of its own, creates one and deletes it again', async () => {
    const reconcile: Reconcile<Note> = async ({ client, object, attempt, signal }) => {
      if (object === undefined || calls === ENDLESS) return
      const map = (suffix: string, data = {}) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          namespace: key.namespace,
          name: `${key.name}-${suffix}`,
          labels: { app: 'notes' },
          ownerReferences: [controllerReference(object)],
        },
        data,
      })
      await client.apply(ConfigMaps, map('attempt', { attempt: `${attempt}` }), { fieldManager: 'notes', signal })
      await client.create(ConfigMaps, map('lock'), { signal })
      await client.delete(ConfigMaps, map('lock').metadata, { signal })
      await callService()
    }
    await start({ reconcile })
    await world.clock.advance(60_000)
    expect(calls).toBe(6)
  })

  it('is kept when the report deals with the failure itself', async () => {
    const handled = (summary: ReconcileSummary<Note>) => ({
      ...report(summary),
      isHandled: true,
      requeueAfterMs: 30_000,
    })
    await start({ components: [zone], report: handled })
    await world.clock.advance(65_000)
    expect(calls).toBe(3)
  })

  it('has no end after a terminal failure, whatever its text', async () => {
    const resolve = () => callService((text) => new TerminalError(text))
    await start({ components: [{ name: 'zone', resolve }], report })
    await world.clock.advance(60_000)
    expect(calls).toBe(1)
    await world.edit({ spec: { text: 'two' } })
    await world.clock.advance(60_000)
    expect(calls).toBe(2)
  })

  it('ends at once when a user changes the resource or what it owns', async () => {
    await start({ components: [{ name: 'note', render: ({ primary }) => renderNote(primary) }, zone], report })
    await world.clock.advance(100_000)
    expect(calls).toBe(7)
    await world.edit({ spec: { text: 'two' } })
    await world.clock.advance(100)
    expect(calls).toBe(8)
    await world.client.patch(ConfigMaps, key, { type: 'merge', patch: { data: { text: 'edited' } } })
    await world.clock.advance(100)
    expect(calls).toBe(9)
  })

  it('ends at once when the reconcile of another resource writes what it waits for', async () => {
    const reconcile: Reconcile<Note> = async ({ key: { namespace, name }, client, cache, signal }) => {
      if (name === key.name) {
        if (cache.list(ConfigMaps).length === 0) await callService()
        return
      }
      const metadata = { name: 'zone', labels: { app: 'notes' }, ...(namespace && { namespace }) }
      await client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata }, { signal })
    }
    const watches = [{ resource: ConfigMaps, labelSelector: 'app=notes', map: () => [key] }]
    await start({ owns: [], watches, reconcile })
    await world.clock.advance(40_000)
    expect(records.at(-1)).toMatchObject({ outcome: 'error' })
    const other = { apiVersion: 'example.com/v1', kind: 'Note', metadata: { ...key, name: 'other' } }
    await world.client.create(Notes, { ...other, spec: { text: '' } })
    await world.clock.advance(100)
    expect(records.at(-1)).toMatchObject({ key, outcome: 'success' })
  })
})
