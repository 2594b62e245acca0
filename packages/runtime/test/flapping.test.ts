import type { Clock } from '@reeve/http'
import { ConfigMaps, Secrets } from '@reeve/kube'
import { type Component, defineOperator, desired } from '@reeve/runtime'
import type { Reconcile, ReconcileRecord } from '@reeve/runtime/controller'
import { anyController, type ControllerDefinition } from '@reeve/runtime/operator'
import { controllerReference } from '@reeve/runtime/owner-references'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { recordingLogger } from '../src/testing/recording-logger.ts'
import { key, type Note, Notes, type NotesWorld, notesWorld, owns, renderNote } from './support/notes.ts'

/** A loop without end is visible as this many reconciles: then values stay the same, so that the test ends. */
const ENDLESS = 300

let world: NotesWorld
let stop: AbortController
let running: Promise<void>
let records: ReconcileRecord[]
let logger: ReturnType<typeof recordingLogger>
/** What makes it impure, until it is fixed. */
let isFixed: boolean
let last: number

beforeEach(async () => {
  world = await notesWorld()
  stop = new AbortController()
  records = []
  logger = recordingLogger()
  isFixed = false
  last = 0
})
afterEach(async () => {
  stop.abort()
  await world.clock.runToCompletion(running)
  await world.cluster.stop()
})

const onReconcile = (record: ReconcileRecord) => records.push(record)
const metadata = { ...key, labels: { app: 'notes' } }

/** Another value each time, such as the time. */
function changing(): string {
  if (!isFixed && last < ENDLESS) last++
  return `value-${last}`
}

type Definition = ControllerDefinition<Note>

/** Starts an operator. */
function run(controller: Partial<Definition>): void {
  const controllers = [anyController({ for: Notes, owns, onReconcile, ...controller } as Definition)]
  running = defineOperator({ name: 'notes', controllers })
    .create({ ...world, logger })
    .manager.run(stop.signal)
}

/** Starts an operator, and declares a note. */
async function start(controller: Partial<Definition>): Promise<void> {
  run(controller)
  await world.declare('one')
}

const renderChanging = () => [desired(ConfigMaps, { metadata, data: { text: changing(), other: 'x' } })]

const renderOne: Component<Note>['render'] = ({ primary }) => renderNote(primary)

const sleep = (clock: Clock, ms: number) =>
  new Promise<undefined>((resolve) => clock.schedule(ms, () => resolve(undefined)))

const stalledMessage = async () =>
  (await world.client.get(Notes, key)).status?.conditions?.find(({ type }) => type === 'Stalled')?.message

describe('a render that is not pure', () => {
  it('is slowed down, and named with its field in status, event and log', async () => {
    await start({ render: renderChanging })
    await world.clock.advance(900)
    const before = records.length
    expect(before).toBeLessThan(30)
    await world.clock.advance(60_000)
    // after 1, 3, 7, 15, 31 s, each with up to a tenth more
    expect(records.length - before).toBe(5)
    expect(await world.conditions()).toEqual(['Stalled=True Flapping'])
    expect(await stalledMessage()).toContain('ConfigMap default/n (data.text).')
    expect(await world.events()).toEqual(['Warning ReconcileFailed'])
    const warning = logger.lines.find(({ level }) => level === 'warn')
    expect(warning?.fields.err).toMatchObject({ message: expect.stringContaining('ConfigMap default/n (data.text).') })
    expect(records.at(-1)).toMatchObject({ outcome: 'error', errorCode: 'FLAPPING' })
  })

  it('is retried at most every five minutes, and is forgotten when it is fixed', async () => {
    await start({ render: renderChanging })
    await world.clock.advance(3_600_000)
    const before = records.length
    await world.clock.advance(3_600_000)
    expect(records.length - before).toBeGreaterThanOrEqual(10)
    expect(records.length - before).toBeLessThanOrEqual(12)
    isFixed = true
    await world.clock.advance(330_000)
    expect(await world.conditions()).toEqual([])
    expect(records.at(-1)).toMatchObject({ outcome: 'success' })
  })

  it('gets another try at once when the resource changes', async () => {
    await start({
      render: ({ spec }) => (spec.text === 'one' ? renderChanging() : [desired(ConfigMaps, { metadata })]),
    })
    await world.clock.advance(600_000)
    expect(await world.conditions()).toEqual(['Stalled=True Flapping'])
    await world.edit({ spec: { text: 'two' } })
    await world.clock.advance(100)
    expect(await world.conditions()).toEqual([])
  })

  it('loses the condition when a fixed operator starts', async () => {
    await start({ render: renderChanging })
    await world.clock.advance(10_000)
    expect(await world.conditions()).toEqual(['Stalled=True Flapping'])
    stop.abort()
    await world.clock.runToCompletion(running)
    stop = new AbortController()
    isFixed = true
    run({ render: renderChanging })
    await world.clock.advance(1_000)
    expect(await world.conditions()).toEqual([])
  })

  it('is slowed down as well while it asks to be reconciled every 30 s', async () => {
    await start({ render: renderChanging, report: () => ({ requeueAfterMs: 30_000 }) })
    await world.clock.advance(900)
    expect(records.length).toBeLessThan(30)
    expect(await world.conditions()).toEqual(['Stalled=True Flapping'])
  })

  it('is slowed down although another controller reacts to each of its writes', async () => {
    let reactions = 0
    const seen = new Set<unknown>()
    world.cluster.api.subscribe(({ resource, object }) => {
      const { text } = (object.data ?? {}) as { readonly text?: string }
      if (resource !== 'configmaps' || text === undefined || seen.has(text)) return
      seen.add(text)
      const patch = { metadata: { annotations: { 'example.com/seen': text } } }
      void world.client.patch(ConfigMaps, key, { type: 'merge', patch }).then(() => reactions++)
    })
    await start({ render: renderChanging })
    await world.clock.advance(900)
    expect(reactions).toBe(last)
    expect(records.length).toBeLessThan(100)
    const before = records.length
    await world.clock.advance(60_000)
    expect(records.length - before).toBe(5)
    expect(await stalledMessage()).toMatch(/ConfigMap default.n \(.*data.text\)/)
  })

  it('is named when objects are created and deleted under another name each time', async () => {
    const render = () => [desired(ConfigMaps, { metadata: { ...metadata, name: changing() } })]
    await start({ render })
    await world.clock.advance(10_000)
    expect(records.length).toBeLessThan(30)
    expect(await stalledMessage()).toContain('a new ConfigMap each time; the deletion of a ConfigMap each time')
  })

  it('shows no value of a Secret', async () => {
    const password = () => Buffer.from(`hunter-${changing()}`).toString('base64')
    const render = () => [desired(Secrets, { metadata, data: { password: password() } })]
    await start({ owns: [{ resource: Secrets, labelSelector: 'app=notes' }], render })
    await world.clock.advance(10_000)
    expect(await stalledMessage()).toContain('Secret default/n (data.password)')
    const errors = logger.lines.flatMap(({ fields: { err } }) => (err instanceof Error ? [err.message] : []))
    const told = JSON.stringify([logger.lines, errors, records, await world.client.get(Notes, key)])
    expect(told).not.toContain(Buffer.from('hunter-').toString('base64').slice(0, 6))
    expect(told).not.toContain('hunter-')
  })
})

describe('relatives of it', () => {
  it('are facts that differ each time', async () => {
    const component: Component<Note, string> = {
      name: 'time',
      resolve: () => changing(),
      render: ({ facts }) => [desired(ConfigMaps, { metadata, data: { facts } })],
    }
    await start({ components: [component] } as Partial<Definition>)
    await world.clock.advance(900)
    expect(records.length).toBeLessThan(30)
    expect(await stalledMessage()).toContain('ConfigMap default/n (data.facts)')
  })

  it('are reports that replace the status by another one each time', async () => {
    await start({ render: renderNote, report: () => ({ status: { said: changing() } }) })
    await world.clock.advance(900)
    expect(records.length).toBeLessThan(30)
    expect(await stalledMessage()).toContain('Note default/n (status.said)')
    const { lastTransitionTime } = (await world.client.get(Notes, key)).status?.conditions?.[0] ?? {}
    await world.clock.advance(60_000)
    expect((await world.client.get(Notes, key)).status?.conditions).toMatchObject([
      { type: 'Stalled', status: 'True', lastTransitionTime },
    ])
  })

  it('are reconcile functions that write another annotation each time', async () => {
    const reconcile: Reconcile<Note> = async ({ client, object, signal }) => {
      if (object === undefined) return
      const patch = { metadata: { annotations: { 'example.com/at': changing() } } }
      await client.patch(Notes, key, { type: 'merge', patch }, { signal })
    }
    await start({ owns: [], reconcile })
    await world.clock.advance(900)
    expect(records.length).toBeLessThan(30)
    expect(await stalledMessage()).toContain('Note default/n (metadata.annotations')
    const before = records.length
    await world.clock.advance(60_000)
    expect(records.length - before).toBe(5)
  })

  it('are reconcile functions that create an object with a generated name each time', async () => {
    const reconcile: Reconcile<Note> = async ({ client, object, signal }) => {
      if (object === undefined || last === ENDLESS) return
      changing()
      const generated = { namespace: key.namespace, generateName: 'job-', labels: metadata.labels }
      const ownerReferences = [controllerReference(object)]
      const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...generated, ownerReferences } }
      await client.create(ConfigMaps, map as never, { signal })
    }
    await start({ reconcile })
    await world.clock.advance(900)
    expect(records.length).toBeLessThan(30)
    expect(await stalledMessage()).toContain('a new ConfigMap each time')
  })
})

describe('a field that another manager changes back after each write', () => {
  it('is named, and fought for with back-off', async () => {
    let reverts = 0
    world.cluster.api.subscribe(({ resource, object }) => {
      const { text } = (object.data ?? {}) as { readonly text?: string }
      if (resource !== 'configmaps' || text !== 'one' || ++reverts > ENDLESS) return
      void world.client.patch(ConfigMaps, key, { type: 'merge', patch: { data: { text: 'theirs' } } })
    })
    await start({ render: renderNote })
    await world.clock.advance(60_000)
    expect(reverts).toBeLessThan(50)
    expect(await stalledMessage()).toContain('ConfigMap default/n (data.text)')
  })
})

describe('nothing flaps', () => {
  const isCalm = () => !records.some(({ outcome }) => outcome === 'error')

  it('when a reconcile works in steps, each caused by the write before', async () => {
    const reconcile: Reconcile<Note> = async ({ client, object, signal }) => {
      const step = Number(object?.status?.said ?? 0)
      if (object === undefined || step === 15) return
      const patch = { status: { said: `${step + 1}` } }
      await client.patch(Notes, key, { type: 'merge', patch }, { signal, subresource: 'status' })
    }
    await start({ owns: [], reconcile })
    await world.clock.advance(900)
    expect((await world.client.get(Notes, key)).status?.said).toBe('15')
    expect(isCalm()).toBe(true)
  })

  it('when a slow reconcile reports what another client changes all the time', async () => {
    const slow: Component<Note> = { name: 'slow', resolve: ({ clock }) => sleep(clock, 100), render: renderOne }
    await start({
      components: [slow],
      report: ({ cache }) => ({ status: { said: cache.get(ConfigMaps, key)?.metadata.annotations?.ready ?? 'none' } }),
    })
    for (let ready = 0; ready < 100; ready++) {
      await world.clock.advance(50)
      if (ready < 3) continue
      const patch = { metadata: { annotations: { ready: `${ready}` } } }
      await world.client.patch(ConfigMaps, key, { type: 'merge', patch })
    }
    expect(records.length).toBeGreaterThan(40)
    await world.clock.advance(1_000)
    expect((await world.client.get(Notes, key)).status?.said).toBe('99')
    expect(isCalm()).toBe(true)
  })

  it('when another client changes the object a hundred times', async () => {
    await start({ render: renderNote, report: ({ primary }) => ({ status: { said: primary.spec.text } }) })
    await world.clock.advance(100)
    for (let edit = 0; edit < 100; edit++) {
      await world.client.patch(ConfigMaps, key, { type: 'merge', patch: { data: { text: `edit ${edit}` } } })
      await world.edit({ spec: { text: `text ${edit}` } })
      await world.clock.advance(10)
    }
    expect(await world.text()).toBe('text 99')
    expect(records.length).toBeGreaterThan(100)
    expect(isCalm()).toBe(true)
    expect(await world.conditions()).toEqual([])
  })
})
