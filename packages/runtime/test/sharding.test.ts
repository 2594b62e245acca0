/** Replicas of one operator that divide its objects among themselves, on a simulated clock. */
import { Leases, type ObjectKey } from '@reeve/kube'
import { defineOperator } from '@reeve/runtime'
import { createManager } from '@reeve/runtime/manager'
import { shardOf } from '@reeve/runtime/sharding'
import { beforeEach, describe, expect, test } from 'vitest'
import { Notes, type NotesWorld, notesWorld, owns, renderNote } from './support/notes.ts'

const SHARDS = 6
const lease = { namespace: 'default', name: 'notes' }
const operator = defineOperator({ name: 'notes', controllers: [{ for: Notes, owns, render: renderNote }] })

let world: NotesWorld
let reconciled: { readonly by: string; readonly name: string }[]
beforeEach(async () => {
  world = await notesWorld()
  reconciled = []
})

/** Starts a replica. */
function start(identity: string, shards = SHARDS) {
  const { client, clock, metrics } = world
  const stopping = new AbortController()
  const { manager } = operator.create({
    client,
    clock,
    ...(identity === 'a' && { metrics }),
    sharding: { lease, shards, identity },
    onReconcile: ({ key: { name } }) => reconciled.push({ by: identity, name }),
  })
  const running = manager.run(stopping.signal)
  const stop = () => {
    stopping.abort()
    return clock.runToCompletion(running)
  }
  return { stop }
}

const names = Array.from({ length: 60 }, (_, at) => `note-${at}`)

async function create(): Promise<void> {
  for (const name of names) {
    const metadata = { namespace: 'default', name }
    await world.client.create(Notes, { apiVersion: 'example.com/v1', kind: 'Note', metadata, spec: { text: name } })
  }
}

async function holders(): Promise<Readonly<Record<string, number>>> {
  const { items } = await world.client.listAll(Leases)
  const held = items.filter(({ metadata }) => /-shard-\d+$/.test(metadata.name))
  const byHolder = Map.groupBy(held, ({ spec }) => spec?.holderIdentity ?? '')
  return Object.fromEntries([...byHolder].map(([holder, all]) => [holder, all.length]))
}

const edit = (name: string, text: string) =>
  world.client.patch(Notes, { namespace: 'default', name }, { type: 'merge', patch: { spec: { text } } })

describe('sharded replicas', { timeout: 240_000 }, () => {
  test('divide the objects, hand over to new ones, and take over from those that end', async () => {
    const { clock } = world
    await create()
    const a = start('a')
    await clock.advance(5_000)
    expect(await holders()).toEqual({ a: 6 })
    expect(new Set(reconciled.map(({ name }) => name)).size).toBe(60)
    expect(await world.metric('sharding_shards_held')).toBe(6)
    expect(await world.metric('leader_election_master_status')).toBe(1)

    const b = start('b')
    const c = start('c')
    await clock.advance(20_000)
    expect(await holders()).toEqual({ a: 2, b: 2, c: 2 })
    expect(await world.metric('sharding_shards_held')).toBe(2)
    expect(await world.metric('sharding_replicas')).toBe(3)

    reconciled = []
    for (const name of names) await edit(name, `${name} again`)
    await clock.advance(5_000)
    const by = Map.groupBy(reconciled, ({ name }) => name)
    expect(by.size).toBe(60)
    for (const [name, all] of by) expect([name, new Set(all.map((one) => one.by)).size]).toEqual([name, 1])
    expect(new Set(reconciled.map((one) => one.by))).toEqual(new Set(['a', 'b', 'c']))

    await b.stop()
    await clock.advance(10_000)
    expect(await holders()).toEqual({ a: 3, c: 3 })
    await a.stop()
    await c.stop()
    const left = (await world.client.listAll(Leases)).items
    expect(left.map(({ spec }) => spec?.holderIdentity)).toEqual(Array.from({ length: 6 }, () => ''))
  })

  test('with another number of shards wait until all others have ended', async () => {
    const { clock } = world
    await create()
    const old = start('old', 4)
    await clock.advance(5_000)
    const next = start('next', 6)
    await clock.advance(60_000)
    expect(await holders()).toEqual({ old: 4 })
    reconciled = []
    await old.stop()
    await clock.advance(10_000)
    expect(await holders()).toEqual({ next: 6 })
    expect(new Set(reconciled.map(({ name }) => name)).size).toBe(60)
    await next.stop()
  })

  test('that died are forgotten, with their leases', async () => {
    const { clock, client } = world
    const now = new Date(clock.now()).toISOString().replace('Z', '000Z')
    const metadata = {
      namespace: 'default',
      name: 'notes-replica-0123456789ab',
      labels: { 'reeve.dev/sharding': 'notes' },
      annotations: { 'reeve.dev/shards': '6' },
    }
    const spec = { holderIdentity: 'dead', leaseDurationSeconds: 15, renewTime: now, acquireTime: now }
    await client.create(Leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec })
    const a = start('a')
    await clock.advance(5_000)
    expect(await holders()).toEqual({ a: 3 })
    await clock.advance(20_000)
    expect(await holders()).toEqual({ a: 6 })
    await clock.advance(330_000)
    const replicas = (await client.listAll(Leases)).items.filter((one) => one.metadata.name.includes('replica'))
    expect(replicas.map((one) => one.spec?.holderIdentity)).toEqual(['a'])
    await a.stop()
  })

  test('reject what cannot work', async () => {
    const { client, clock } = world
    const sharding = { lease, shards: 4, identity: 'a' }
    expect(() => createManager({ client, sharding: { ...sharding, shards: 0 } })).toThrow('from 1 to 256')
    expect(() => createManager({ client, sharding, leaderElection: { lease } })).toThrow('exclude each other')
    const manager = createManager({ client, clock, sharding })
    manager.add({ name: 'sweeper', needsLeadership: true, run: async () => undefined })
    await expect(manager.run(AbortSignal.abort())).rejects.toThrow('sweeper must run in one process at a time')
  })

  test('need rights for all Leases of their namespace', () => {
    const { roles } = operator.rbac({ namespace: 'system', isSharded: true })
    const verbs = ['create', 'get', 'list', 'update', 'delete']
    expect(roles[0]?.rules).toContainEqual({ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs })
  })
})

test('keys of one namespace are in all shards', () => {
  const keys: readonly ObjectKey[] = names.map((name) => ({ namespace: 'default', name }))
  expect(new Set(keys.map((key) => shardOf(key, SHARDS))).size).toBe(SHARDS)
})
