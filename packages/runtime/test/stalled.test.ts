import { ConfigMaps } from '@reeve/kube'
import { defineOperator } from '@reeve/runtime'
import type { Condition } from '@reeve/runtime/status'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { redact } from '../src/logging/redact.ts'
import { recordingLogger } from '../src/testing/recording-logger.ts'
import { key, type Note, Notes, type NotesWorld, notesWorld, owns, renderNote } from './support/notes.ts'

let world: NotesWorld
let stop: AbortController
let running: Promise<void>

beforeEach(async () => {
  world = await notesWorld()
  stop = new AbortController()
})
afterEach(async () => {
  stop.abort()
  await world.clock.runToCompletion(running)
  await world.cluster.stop()
})

describe('a clean-up that fails', () => {
  it('shows in a condition and one Warning event until it succeeds', async () => {
    let isLocked = true
    const operator = defineOperator({
      name: 'notes',
      controllers: [
        {
          for: Notes,
          owns,
          render: renderNote,
          finalize: async () => {
            if (isLocked) throw new Error('the zone is locked')
            return undefined
          },
        },
      ],
    })
    running = operator.create({ ...world }).manager.run(stop.signal)
    await world.declare('one')
    await world.clock.advance(5_000)
    expect(await world.conditions()).toEqual([])
    await world.client.delete(Notes, key)
    await world.clock.advance(60_000)
    expect((await world.client.get(Notes, key)).status?.conditions).toMatchObject([
      { type: 'Stalled', status: 'True', reason: 'FinalizeFailed', message: 'the zone is locked' },
    ])
    expect(await world.events()).toEqual(['Warning FinalizeFailed'])
    isLocked = false
    await world.clock.advance(600_000)
    await expect(world.client.get(Notes, key)).rejects.toThrow('not found')
  })

  it('records no event when failure events are switched off', async () => {
    const finalize = () => Promise.reject(new Error('the zone is locked'))
    const controllers = [{ for: Notes, owns, render: renderNote, finalize, failureEvents: false }] as const
    running = defineOperator({ name: 'notes', controllers })
      .create({ ...world })
      .manager.run(stop.signal)
    await world.declare('one')
    await world.clock.advance(5_000)
    await world.client.delete(Notes, key)
    await world.clock.advance(60_000)
    expect(await world.events()).toEqual([])
    expect(await world.conditions()).toEqual(['Stalled=True FinalizeFailed'])
  })
})

describe('an operator that reports Stalled=False itself', () => {
  it('does not fight the engine: as many attempts and writes as without it', async () => {
    const attempts = async (conditions: readonly Condition[] | undefined) => {
      let count = 0
      const finalize = () => {
        count += 1
        return Promise.reject(new Error('the zone is locked'))
      }
      const report = ({ primary: { status } }: { readonly primary: Note }) => ({
        status: { ...status, ...(conditions && { conditions: [...conditions] }) },
      })
      const other = await notesWorld()
      const ending = new AbortController()
      const controllers = [{ for: Notes, owns, render: renderNote, report, finalize }] as const
      const ended = defineOperator({ name: 'notes', controllers })
        .create({ ...other })
        .manager.run(ending.signal)
      await other.declare('one')
      await other.clock.advance(5_000)
      await other.client.delete(Notes, key)
      await other.clock.advance(60_000)
      const times = new Set<string | undefined>()
      const writes = other.cluster.requests.count({ verb: 'update', resource: 'notes.example.com' })
      for (let minute = 0; minute < 10; minute += 1) {
        await other.clock.advance(60_000)
        const { status } = await other.client.get(Notes, key)
        expect(status?.conditions?.map(({ type, status: value }) => `${type}=${value}`)).toEqual(['Stalled=True'])
        times.add(status?.conditions?.[0]?.lastTransitionTime)
      }
      ending.abort()
      await other.clock.runToCompletion(ended)
      const later = other.cluster.requests.count({ verb: 'update', resource: 'notes.example.com' })
      await other.cluster.stop()
      return { count, times: times.size, writes: later - writes }
    }
    const lastTransitionTime = '2030-01-01T00:00:00Z'
    const own = { type: 'Stalled', status: 'False', reason: 'Fine', message: '', lastTransitionTime } as const
    const usual = await attempts(undefined)
    expect(usual).toMatchObject({ times: 1, writes: 0 })
    expect(await attempts([own])).toEqual(usual)
    expect(await attempts([])).toEqual(usual)
    running = Promise.resolve()
  })
})

describe('a status with a field that the schema lacks', () => {
  it('is an error that names the field, and the rest is written', async () => {
    const report = () => ({ status: { said: 'hi', volume: 7 } })
    const controllers = [{ for: Notes, owns, render: renderNote, report }] as const
    const logger = recordingLogger()
    const operator = defineOperator({ name: 'notes', controllers })
    const { manager, controllers: created } = operator.create({ ...world, logger })
    running = manager.run(stop.signal)
    await world.declare('one')
    await world.clock.advance(5_000)
    // Whole objects do not belong in logs.
    const failures = logger.lines.filter(({ level }) => level === 'warn').map(({ fields }) => redact(fields))
    expect(JSON.stringify(failures)).toContain('lacks status.volume')
    expect(JSON.stringify(failures)).not.toContain('"spec"')
    expect(created[0].records.at(-1)?.error).toBe(
      'the schema of notes.example.com in v1 lacks status.volume: add it to the CRD, or install the CRD that belongs to this operator',
    )
    expect((await world.client.get(Notes, key)).status).toEqual({ said: 'hi' })
    const { writes } = world.cluster.requests
    await world.clock.advance(3_600_000)
    // With the back-off of a failure, not in every reconcile.
    expect(world.cluster.requests.writes - writes).toBeLessThan(60)
  })
})

describe('a conflict that persists', () => {
  it('escalates: a warning in the log, a metric, an event and a condition, which go when it is resolved', async () => {
    const logger = recordingLogger()
    const controllers = [{ for: Notes, owns, render: renderNote }] as const
    running = defineOperator({ name: 'notes', controllers })
      .create({ ...world, logger })
      .manager.run(stop.signal)
    const conflicts = { kind: 'status', code: 409, reason: 'AlreadyExists' } as const
    const removeFault = world.cluster.faults.inject({ verb: 'create', resource: 'configmaps' }, conflicts, {
      times: Infinity,
    })
    await world.declare('one')
    await world.clock.advance(600_000)
    expect(await world.conditions()).toEqual(['Stalled=True ConflictPersists'])
    expect(await world.events()).toEqual(['Warning ReconcileConflict'])
    expect(await world.metric('reconcile_persistent_conflicts_total')).toBeGreaterThan(0)
    expect(logger.lines.filter(({ level }) => level === 'warn').map(({ message }) => message)).toContain(
      'conflict persists, retrying',
    )
    removeFault()
    await world.clock.advance(600_000)
    expect(await world.conditions()).toEqual([])
    expect((await world.client.get(ConfigMaps, key)).data).toEqual({ text: 'one' })
  })
})
