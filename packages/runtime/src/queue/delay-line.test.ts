import type { Clock } from '@reeve/http'
import { SimulatedClock } from '@reeve/http/testing'
import { describe, expect, it } from 'vitest'
import { DelayLine } from './delay-line.ts'

describe('a delay line', () => {
  it('is not delayed by a timer that the wall clock has jumped over', async () => {
    const simulated = new SimulatedClock()
    let jumpedMs = 0
    const clock: Clock = {
      now: () => simulated.now() + jumpedMs,
      schedule: (delayMs, run) => simulated.schedule(delayMs, run),
    }
    const due: string[] = []
    const line = new DelayLine<string>(clock, (value) => due.push(value))
    line.add('in half an hour', clock.now() + 30 * 60_000)
    jumpedMs = 60 * 60_000
    line.add('in a second', clock.now() + 1_000)
    await simulated.advance(1_000)
    expect(due).toEqual(['in half an hour', 'in a second'])
    expect(line.size).toBe(0)
  })
})
