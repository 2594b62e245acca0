import { ConfigMaps, sleep } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { createWorld, type OperatorUnderTest } from '../src/index.ts'
import { correctOperator } from './support/boxes.ts'

/** Waits in every way in which an operator waits, and notes what ended. */
function waitingOperator(ended: string[]): OperatorUnderTest {
  return {
    name: 'waiting',
    crds: [],
    start: ({ clock }, client) => ({
      run: async (signal) => {
        const waits: Readonly<Record<string, () => Promise<unknown>>> = {
          answer: () => client.listAll(ConfigMaps, { timeoutMs: Number.POSITIVE_INFINITY }),
          timer: () => sleep(3_600_000, { clock }),
          signal: () => sleep(Number.MAX_SAFE_INTEGER, { clock, signal: AbortSignal.any([signal]) }),
        }
        await Promise.allSettled(Object.entries(waits).map(([name, wait]) => wait().finally(() => ended.push(name))))
      },
    }),
  }
}

describe('the end of a world', () => {
  it('ends every wait of an instance that was killed, so that nothing keeps it in memory', async () => {
    const ended: string[] = []
    const world = await createWorld({ seed: 1, disturbance: { onResponse: () => ({ type: 'lose' }) } })
    const instance = world.start(waitingOperator(ended))
    await world.clock.advance(1_000)
    instance.kill()
    await world.clock.advance(7_200_000)
    expect(ended).toEqual([])
    await world.close()
    expect(ended.toSorted()).toEqual(['answer', 'signal', 'timer'])
  })

  it('leaves no timer behind', async () => {
    const world = await createWorld({ seed: 1 })
    await world.install(correctOperator)
    world.start(correctOperator, { election: true })
    await world.clock.advance(10_000)
    expect(world.clock.pendingTimers).toBeGreaterThan(0)
    await world.close()
    expect(world.clock.pendingTimers).toBe(0)
  })
})
