import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { setTimeout as waitFor } from 'node:timers/promises'
import { promisify } from 'node:util'
import { SimulatedClock } from '@reeve/http/testing'
import { seededRandom } from '@reeve/runtime/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ambientPatch } from './ambient-patch.ts'
import { withAmbient, withoutAmbient } from './ambient-source.ts'

const START_MS = Date.UTC(2030, 0, 1)
const RealDate = Date

let clock: SimulatedClock
const underTest = <R>(action: () => R): R => withAmbient({ clock, random: seededRandom(7) }, action)

beforeEach(() => {
  clock = new SimulatedClock({ startMs: START_MS })
  ambientPatch.acquire()
})
afterEach(() => ambientPatch.release())

describe('code under test', () => {
  it('reads virtual time from every API', () => {
    underTest(() => {
      expect(Date.now()).toBe(START_MS)
      expect(new Date().toISOString()).toBe('2030-01-01T00:00:00.000Z')
      expect(Date()).toContain('2030')
      expect(performance.now()).toBe(START_MS)
      expect(process.hrtime.bigint()).toBe(BigInt(START_MS) * 1_000_000n)
      expect(new Date(0).getTime()).toBe(0)
      expect(new Date()).toBeInstanceOf(RealDate)
      expect(Date.UTC(2030, 0, 1)).toBe(START_MS)
    })
  })

  it('waits on the virtual clock, also for what it awaits and for timers in timers', async () => {
    const fired: string[] = []
    const note = (what: string) => () => fired.push(`${what} ${new Date().toISOString().slice(11, 19)}`)
    underTest(() => {
      setTimeout(note('timeout'), 60_000)
      clearTimeout(setTimeout(note('cleared'), 1))
      waitFor(120_000).then(note('promise'))
      promisify(setTimeout)(180_000).then(note('promisified'))
      const ticks = setInterval(() => {
        note('tick')()
        clearInterval(ticks)
      }, 200_000)
      AbortSignal.timeout(240_000).addEventListener('abort', () => fired.push('aborted'))
      setImmediate(note('immediate'))
    })
    await clock.advance(300_000)
    // A clock of an instance runs its timers in the context of the instance; this one does not.
    expect(fired.map((line) => line.split(' ')[0])).toEqual([
      'immediate',
      'timeout',
      'promise',
      'promisified',
      'tick',
      'aborted',
    ])
    expect(fired[2]).toBe('promise 00:02:00')
  })

  it('draws from its seed, also through node:crypto', () => {
    const draw = () => [Math.random(), randomUUID(), randomBytes(4).toString('hex'), randomInt(10, 20)]
    expect(underTest(draw)).toEqual(underTest(draw))
    expect(underTest(() => crypto.getRandomValues(new Uint8Array(3)))).toEqual(
      underTest(() => crypto.getRandomValues(new Uint8Array(3))),
    )
    expect(underTest(randomUUID)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })
})

describe('all other code', () => {
  it('sees the machine, inside and outside a world', async () => {
    expect(Math.abs(Date.now() - RealDate.now())).toBeLessThan(10_000)
    expect(underTest(() => withoutAmbient(() => Date.now()))).not.toBe(START_MS)
    expect(randomUUID()).not.toBe(randomUUID())
    await waitFor(1)
    await new Promise((resolve) => setImmediate(resolve))
  })

  it('gets the originals back with the end of the last world', () => {
    ambientPatch.acquire()
    ambientPatch.release()
    expect(Date).not.toBe(RealDate)
    ambientPatch.release()
    expect(Date).toBe(RealDate)
    ambientPatch.acquire()
  })
})
