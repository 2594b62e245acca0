import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { sleep } from '@reeve/http'
import type { SimulatedClock } from '@reeve/http/testing'
import { ConfigMaps } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { createWorld, Explorer, type OperatorUnderTest, type Scenario, type User } from '../src/index.ts'
import { boxScenario, correctOperator } from './support/boxes.ts'

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
    // Its time is simulated: the operator runs in this process.
    const clock = world.clock as SimulatedClock
    expect(clock.pendingTimers).toBeGreaterThan(0)
    await world.close()
    expect(clock.pendingTimers).toBe(0)
  })
})

/** How many are still in memory after garbage collection; once `enough` is reached, that. */
async function keptOf(refs: readonly WeakRef<object>[], enough: number): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  let kept = refs.length
  // WeakRefs stay alive until the end of a turn, and the collector may need more than one pass.
  for (let pass = 0; pass < 20 && kept > enough; pass++) {
    await setImmediate()
    collectGarbage()
    kept = refs.filter((ref) => ref.deref() !== undefined).length
  }
  return kept
}

describe('an exploration', () => {
  it('keeps nothing of a run in memory but its outcome', { timeout: 60_000 }, async () => {
    const worlds: WeakRef<User>[] = []
    const steps = boxScenario.steps.map((step, index) => ({
      ...step,
      act: (user: User) => {
        if (index === 0) worlds.push(new WeakRef(user))
        return step.act(user)
      },
    }))
    const scenario: Scenario = { ...boxScenario, steps }
    const explorer = new Explorer({ operator: correctOperator, scenario })
    // One run of each kind of ending: killed, disconnected from its events, its response lost, stopped.
    for (const pattern of ['crash-after-write', 'dead-connection', 'failed-request', 'shutdown'] as const)
      await explorer.run(pattern, 6)
    expect(worlds.length).toBe(7)
    // The undisturbed runs, with and without a lease and with another seed, are the baseline of the others.
    expect(await keptOf(worlds, 3)).toBe(3)
  })
})
