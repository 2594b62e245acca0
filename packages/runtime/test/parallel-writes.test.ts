import { ConfigMaps, createClient, isNotFound } from '@reeve/kube'
import { type DesiredObject, defineOperator, desired } from '@reeve/runtime'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Notes, type NotesWorld, notesWorld, owns } from './support/notes.ts'

const NETWORK_MS = 100

let world: NotesWorld
let stop: AbortController
/** The creations of ConfigMaps, in order: `+a` when a request is sent, `-a` when its response arrives. */
let traffic: string[]

beforeEach(async () => {
  world = await notesWorld()
  stop = new AbortController()
  traffic = []
})
afterEach(() => world.cluster.stop())

const part = (name: string, wave = 0, data: Readonly<Record<string, string>> = {}): DesiredObject =>
  desired(ConfigMaps, { metadata: { namespace: 'default', name, labels: { app: 'notes' } }, data }, { wave })

const names = async () => (await world.client.listAll(ConfigMaps, { labelSelector: 'app=notes' })).items.map(nameOf)
const nameOf = ({ metadata }: { readonly metadata: { readonly name?: string } }) => metadata.name

/** A client with a network that takes its time. */
const slowClient = () =>
  createClient({
    clock: world.clock,
    transport: {
      close: async () => undefined,
      send: async (request) => {
        const isCreation = request.method === 'POST' && request.path.includes('/configmaps?')
        const name = isCreation ? JSON.parse(String(request.body)).metadata.name : undefined
        if (isCreation) traffic.push(`+${name}`)
        const response = await world.cluster.handle(request)
        if (isCreation) {
          await new Promise<void>((resolve) => world.clock.schedule(NETWORK_MS, resolve))
          traffic.push(`-${name}`)
        }
        return response
      },
    },
  })

async function run(inParallel: boolean, render: () => readonly DesiredObject[]): Promise<void> {
  const { clock } = world
  const operator = defineOperator({ name: 'notes', controllers: [{ for: Notes, owns, inParallel, render }] })
  const running = operator.create({ client: slowClient(), clock }).manager.run(stop.signal)
  await world.declare('hi')
  await clock.advance(20 * NETWORK_MS)
  stop.abort()
  await clock.runToCompletion(running)
}

describe('objects of one wave', () => {
  const twoWaves = () => [part('c', 1), part('a'), part('b')]

  it('are written one after the other', async () => {
    await run(false, twoWaves)
    expect(traffic).toEqual(['+a', '-a', '+b', '-b', '+c', '-c'])
  })

  it('are written at the same time where they do not depend on each other, waves still in order', async () => {
    await run(true, twoWaves)
    expect(traffic).toEqual(['+a', '+b', '-a', '-b', '+c', '-c'])
  })

  it('are at most four at a time', async () => {
    const all = ['a', 'b', 'c', 'd', 'e', 'f']
    await run(true, () => all.map((name) => part(name)))
    expect(traffic.slice(0, 5)).toEqual(['+a', '+b', '+c', '+d', '-a'])
    expect(await names()).toEqual(all)
  })

  it('do not wait for one that is rejected, but the next wave does', async () => {
    const rejected = part('a', 0, { 'not a key': '' })
    await run(true, () => [rejected, part('b'), part('c', 1)])
    expect(await names()).toEqual(['b'])
    await expect(world.client.get(ConfigMaps, { namespace: 'default', name: 'c' })).rejects.toSatisfy(isNotFound)
    expect(await world.events()).toContainEqual(expect.stringMatching(/^Warning /))
  })
})
