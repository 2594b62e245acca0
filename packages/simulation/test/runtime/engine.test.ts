import { ConfigMaps, isNotFound } from '@reeve/kube'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createWorld, type RequestFate, type World } from '../../src/index.ts'
import { applyReconcile, type Box, boxOperator, contentsOf } from '../support/boxes.ts'

const operator = boxOperator('boxes', { reconcile: applyReconcile })

const spec = fc.record(
  {
    text: fc.constantFrom('one', 'two'),
    items: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('1', '2'), { noNullPrototype: true }),
    lid: fc.boolean(),
  },
  { requiredKeys: ['text'], noNullPrototype: true },
)
const child = fc.constantFrom('gift', 'gift-lid')
const fate = fc.constantFrom<RequestFate | 'lose' | 'crash'>(
  { type: 'reject', code: 409, reason: 'Conflict' },
  { type: 'reject', code: 500, reason: 'InternalError' },
  { type: 'reset' },
  { type: 'delay', delayMs: 2_000 },
  'lose',
  'crash',
)
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('declare' as const), spec }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('stranger' as const), child }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), child }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('overwrite' as const), child }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('fault' as const), fate }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(0, 500, 20_000) }) },
)

const keyOf = (name: string) => ({ namespace: 'default', name })
const ignoreMissing = (error: unknown) => {
  if (!isNotFound(error)) throw error
}

/** Injects a fault into the next write of the operator, once. */
function faultInjector(world: World) {
  let next: RequestFate | 'lose' | 'crash' | undefined
  world.disturb({
    onRequest: ({ isWrite }) => {
      if (!isWrite || next === undefined || next === 'lose' || next === 'crash') return { type: 'pass' }
      const now = next
      next = undefined
      return now
    },
    onResponse: ({ isWrite, instance }) => {
      if (!isWrite || (next !== 'lose' && next !== 'crash')) return { type: 'deliver' }
      if (next === 'crash') {
        world.instances[instance - 1]?.kill()
        world.clock.schedule(1_000, () => world.start(operator))
      }
      next = undefined
      return { type: 'lose' }
    },
  })
  return (wanted: RequestFate | 'lose' | 'crash' | undefined) => {
    next = wanted
  }
}

test('under any faults, desired objects exist, others are deleted, foreign fields are kept, and then nothing is written', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15, size: 'max' }), spec, async (steps, last) => {
      const world = await createWorld({ seed: 1 })
      const inject = faultInjector(world)
      await world.install(operator)
      world.start(operator)
      const { client, put } = world.user
      const declare = (wanted: Box['spec']) =>
        put({ apiVersion: 'example.com/v1', kind: 'Box', metadata: keyOf('gift'), spec: wanted })
      /** Incarnations of children into which a foreign client wrote. */
      const marked = new Set<string>()
      const merge = (name: string, data: Readonly<Record<string, string>>) =>
        world.foreigner.patch(ConfigMaps, keyOf(name), { type: 'merge', patch: { data } })
      for (const action of steps) {
        if (action.do === 'declare') await declare(action.spec)
        else if (action.do === 'fault') inject(action.fate)
        else if (action.do === 'wait') await world.clock.advance(action.ms)
        else if (action.do === 'delete') await client.delete(ConfigMaps, keyOf(action.child)).catch(ignoreMissing)
        else if (action.do === 'overwrite') await merge(action.child, { text: 'vandalism' }).catch(ignoreMissing)
        else {
          const written = await merge(action.child, { stranger: 'was here' }).catch(ignoreMissing)
          if (written !== undefined) marked.add(written.metadata.uid)
        }
      }
      await declare(last)
      inject(undefined)
      await world.clock.advance(600_000)
      const before = world.log.managedWrites.length
      await world.clock.advance(1_200_000)
      const { items } = await client.list(ConfigMaps, { labelSelector: 'app.kubernetes.io/managed-by=boxes' })
      await world.close()
      const isMarked = (uid: string) => (marked.has(uid) ? { stranger: 'was here' } : {})
      const found = items.map(({ metadata, data }) => [metadata.name, data])
      const wanted = items.flatMap(({ metadata: { name, uid } }) => {
        if (name === 'gift') return [[name, { ...contentsOf({ spec: last }), ...isMarked(uid) }]]
        return last.lid ? [[name, { closed: 'yes', ...isMarked(uid), ...overwritten(items, name) }]] : []
      })
      expect(found).toEqual(wanted)
      expect(items.map(({ metadata }) => metadata.name)).toEqual(last.lid ? ['gift', 'gift-lid'] : ['gift'])
      expect(world.log.managedWrites.length - before).toBe(0)
    }),
    { numRuns: 20, seed: 1 },
  )
})

/** The lid does not own the field `text`: foreign values in it are kept. */
function overwritten(
  items: readonly { readonly metadata: { readonly name: string }; readonly data?: Readonly<Record<string, string>> }[],
  name: string,
): Readonly<Record<string, string>> {
  const text = items.find(({ metadata }) => metadata.name === name)?.data?.text
  return text === undefined ? {} : { text }
}
