import { ConfigMaps } from '@reeve/kube'
import { defineOperator } from '@reeve/runtime'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { recordingLogger } from '../src/testing/recording-logger.ts'
import { key, Notes, type NotesWorld, notesWorld, owns, renderNote } from './support/notes.ts'

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
