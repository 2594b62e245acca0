/** Effects outside the cluster, and finalizers that undo them. */
import { ConfigMaps } from '@reeve/kube'
import { waiting } from '@reeve/runtime'
import { StaleViewError } from '@reeve/runtime/engine'
import { describe, expect, it } from 'vitest'
import { GadgetStage, Gadgets, key, type Part, part } from './support/gadgets.ts'

const stage = GadgetStage.forThisFile()
const { create, edit, engineFor, lookNow, reconcile, status } = stage

describe('an effect outside the cluster', () => {
  /** Creates something outside that only a finalizer would delete. */
  function outside() {
    const created: string[] = []
    const a = part('a', {
      resolve: async ({ primary, requireLivePrimary }) => {
        await requireLivePrimary()
        created.push(primary.metadata.uid)
      },
    })
    return { created, run: engineFor([a]) }
  }

  it('happens for a resource that exists as the view shows it', async () => {
    const { created, run } = outside()
    await run()
    expect(created).toHaveLength(1)
  })

  it('does not happen for a resource that an old view still shows', async () => {
    const { created, run } = outside()
    const view = await lookNow()
    await stage.client.delete(Gadgets, key)
    await expect(run({ view })).rejects.toThrow(StaleViewError)
    await create('a')
    await expect(run({ view })).rejects.toThrow(StaleViewError)
    expect(created).toEqual([])
  })

  it('does not happen for a resource that is being deleted', async () => {
    const { created, run } = outside()
    await stage.client.patch(Gadgets, key, {
      type: 'merge',
      patch: { metadata: { finalizers: ['example.com/other'] } },
    })
    const view = await lookNow()
    await stage.client.delete(Gadgets, key)
    await expect(run({ view })).rejects.toThrow(StaleViewError)
    expect(created).toEqual([])
  })
})

describe('effects outside', () => {
  it('can be put on record in the status before they happen', async () => {
    let seen: unknown
    const a = part('a', {
      resolve: async ({ reporter, writeStatus }) => {
        reporter.update({ phase: 'Installing' })
        await writeStatus()
        seen = await status()
        reporter.update({ phase: 'Installed' })
      },
    })
    await reconcile([a])
    expect([seen, await status()]).toEqual([{ phase: 'Installing' }, { phase: 'Installed' }])
  })

  it('do not happen for a deleted resource', async () => {
    let hasActed = false
    const a = part('a', {
      resolve: async ({ reporter, writeStatus }) => {
        await stage.client.delete(Gadgets, key)
        reporter.update({ phase: 'Installing' })
        await writeStatus()
        hasActed = true
      },
    })
    await expect(reconcile([a])).rejects.toThrow(StaleViewError)
    expect(hasActed).toBe(false)
  })

  it('do not happen for a deleted resource whose status already says that they do', async () => {
    const install: Part['resolve'] = async ({ reporter, writeStatus }) => {
      reporter.update({ phase: 'Installing' })
      await writeStatus()
    }
    await reconcile([part('a', { resolve: install })])
    let hasActed = false
    const a = part('a', {
      resolve: async (context) => {
        await stage.client.delete(Gadgets, key)
        await install(context)
        hasActed = true
      },
    })
    await expect(reconcile([a])).rejects.toThrow(StaleViewError)
    expect(hasActed).toBe(false)
  })

  it('are limited by the rights of the account that they are done as', async () => {
    const a = part('a', {
      resolve: ({ clientAs }) => clientAs({ user: 'jane' }).get(ConfigMaps, { namespace: 'default', name: 'secret' }),
    })
    await expect(reconcile([a])).rejects.toThrow(/User "jane" cannot get/)
  })
})

describe('a finalizer', () => {
  const finalizer = 'example.com/gadget'
  const removal = () => stage.client.delete(Gadgets, key)

  it('keeps the resource until every component has finalized, in reverse order', async () => {
    const order: string[] = []
    let isWaiting = true
    const a = part('a', {
      finalize: async () => {
        order.push('a')
        return undefined
      },
    })
    const b = part('b', {
      needs: [a],
      finalize: async () => {
        order.push('b')
        return isWaiting ? waiting('the record to go', { requeueAfterMs: 1_000 }) : undefined
      },
    })
    await reconcile([a, b], { finalizer })
    await removal()
    expect(await reconcile([a, b], { finalizer })).toEqual({ requeueAfterMs: 1_000 })
    expect(order).toEqual(['b'])
    isWaiting = false
    await reconcile([a, b], { finalizer })
    expect(order).toEqual(['b', 'b', 'a'])
    await expect(stage.client.get(Gadgets, key)).rejects.toThrow('not found')
  })

  it('on an old view cleans up nothing of the resource that has the name now', async () => {
    let cleanups = 0
    const finalize = async () => {
      cleanups += 1
      return undefined
    }
    const run = engineFor([part('a', { finalize })], { finalizer })
    await run()
    await removal()
    const view = await lookNow()
    await run()
    await create('a')
    expect(cleanups).toBe(1)
    await run({ view })
    expect(cleanups).toBe(1)
    expect((await stage.client.get(Gadgets, key)).metadata.deletionTimestamp).toBeUndefined()
  })

  it('that fails shows in the status', async () => {
    const a = part('a', {
      finalize: () => Promise.reject(new Error('the zone is locked')),
      report: ({ failure }, reporter) => reporter.update({ note: failure?.message ?? 'fine' }),
    })
    await reconcile([a], { finalizer })
    await removal()
    await expect(reconcile([a], { finalizer })).rejects.toThrow('the zone is locked')
    expect((await status())?.note).toBe('the zone is locked')
  })

  it('is not set for components that are disabled', async () => {
    await edit('b')
    await reconcile([part('a', { finalize: async () => undefined })], { finalizer })
    expect((await stage.client.get(Gadgets, key)).metadata.finalizers).toBeUndefined()
  })
})
