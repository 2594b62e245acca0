import { sleep } from '@reeve/http'
import type { SimulatedClock } from '@reeve/http/testing'
import type { ObjectKey } from '@reeve/kube'
import { describe, expect, test } from 'vitest'
import { NotLeaderError } from '../election/election-error.ts'
import { LeadershipTerm } from '../election/leadership.ts'
import { timeSource } from '../election/time-source.ts'
import { InFlight } from '../lifecycle/in-flight.ts'
import type { ShardListener, ShardOwnership } from '../sharding/shard-elector.ts'
import type { ShardTerm } from '../sharding/shard-term.ts'
import { controllerScenario } from '../testing/controller-scenario.ts'
import { Gadgets, gadget, Widgets, widget } from '../testing/fake-objects.ts'

const key = (name: string) => ({ namespace: 'ns', name })

/** Shards that a test takes and releases: an object is in the shard that its name begins with. */
class Shards implements ShardOwnership {
  readonly reconciles = new InFlight()
  readonly #held = new Map<number, ShardTerm & { readonly end: (reason: Error) => void }>()
  readonly #listeners = new Set<ShardListener>()

  shardOf({ name }: ObjectKey): number {
    return Number(name[0])
  }

  termOf(of: ObjectKey): ShardTerm | undefined {
    return this.#held.get(this.shardOf(of))
  }

  subscribe(listener: ShardListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  take(clock: SimulatedClock, ...shards: readonly number[]): void {
    for (const shard of shards) {
      const leadership = new LeadershipTerm(Number.POSITIVE_INFINITY, clock)
      leadership.renew(timeSource(clock).now(), () => new Error('never'))
      const end = (reason: Error) => leadership.end(reason)
      const enter = () => this.reconciles.enter()
      this.#held.set(shard, { shard, leadership, signal: leadership.signal, enter, end })
    }
    for (const listener of this.#listeners) listener.taken(new Set(shards))
  }

  lose(shard: number): void {
    this.#held.get(shard)?.end(new Error('lost'))
    this.#held.delete(shard)
    for (const listener of this.#listeners) listener.released(shard)
  }
}

describe('a controller with shards', () => {
  test('reconciles only objects of its shards, all of them when it takes one', async () => {
    const shards = new Shards()
    const { requests, cluster, clock, stop } = await controllerScenario(
      { owns: [Gadgets] },
      { shards },
      ({ cluster: fake }) => {
        for (const name of ['1-a', '2-a']) fake.put(Widgets, widget(name))
        const owner = { apiVersion: 'example.com/v1', kind: 'Widget', name: '1-gone', uid: 'u', controller: true }
        // What is left of an object that was deleted while nobody held its shard.
        fake.put(Gadgets, gadget('left', 1, { ownerReferences: [owner] }))
      },
    )
    const reconciled = () => requests.splice(0).map((request) => request.key.name)
    await clock.advance(10_000)
    expect(reconciled()).toEqual([])
    shards.take(clock, 1)
    await clock.settle()
    expect(reconciled()).toEqual(['1-a', '1-gone'])
    cluster.put(Widgets, widget('1-b'))
    cluster.put(Widgets, widget('2-b'))
    await clock.settle()
    expect(reconciled()).toEqual(['1-b'])
    shards.take(clock, 2)
    await clock.settle()
    expect(reconciled()).toEqual(['2-a', '2-b'])
    shards.lose(1)
    cluster.put(Widgets, widget('1-a', 2))
    cluster.put(Widgets, widget('2-a', 2))
    await clock.settle()
    expect(reconciled()).toEqual(['2-a'])
    await stop()
  })

  test('stops the work on a shard that it loses: nothing more is written, no retry runs', async () => {
    const shards = new Shards()
    const late: unknown[] = []
    const { requests, cluster, clock, stop, controller } = await controllerScenario(
      {
        concurrency: 3,
        reconcile: async ({ key: { name }, client, clock: on, signal }) => {
          if (name === '1-fails') throw new Error('unavailable')
          if (name !== '1-slow') return
          await sleep(5_000, { clock: on, signal }).catch(() => undefined) // and continues
          await client.create(Gadgets, gadget('late')).catch((error: unknown) => late.push(error))
        },
      },
      { shards },
    )
    shards.take(clock, 1)
    for (const name of ['1-slow', '1-fails']) cluster.put(Widgets, widget(name))
    await clock.settle()
    expect(shards.reconciles.count).toBe(1)
    shards.lose(1)
    await clock.advance(60_000)
    expect(late).toEqual([expect.any(NotLeaderError)])
    expect(cluster.objects(Gadgets)).toEqual([])
    expect(requests).toHaveLength(2)
    expect(shards.reconciles.count).toBe(0)
    expect(controller.depth).toBe(0)
    shards.take(clock, 1)
    await clock.settle()
    expect(requests.slice(2).map((request) => [request.key.name, request.attempt])).toEqual([
      ['1-slow', 1],
      ['1-fails', 1],
    ])
    await stop()
  })

  test('ignores resyncs and requests from outside for objects of others', async () => {
    const shards = new Shards()
    const { requests, clock, stop, controller } = await controllerScenario(
      { resyncMs: 60_000 },
      { shards },
      ({ cluster }) => {
        for (const name of ['1-a', '2-a']) cluster.put(Widgets, widget(name))
      },
    )
    shards.take(clock, 1)
    controller.enqueue(key('2-a'))
    await clock.advance(120_000)
    expect(new Set(requests.map((request) => request.key.name))).toEqual(new Set(['1-a']))
    expect(requests.length).toBeGreaterThan(1)
    await stop()
  })

  test('ignores shards if it does not need leadership', async () => {
    const shards = new Shards()
    const { requests, stop, controller } = await controllerScenario(
      { needsLeadership: false },
      { shards },
      ({ cluster }) => void cluster.put(Widgets, widget('1-a')),
    )
    expect([requests.length, controller.isSharded]).toEqual([1, false])
    await stop()
  })
})
