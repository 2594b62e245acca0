import { isDeepStrictEqual } from 'node:util'
import type { Stored } from '@reeve/kube'
import fc from 'fast-check'
import { test } from 'vitest'
import { type Widget, widget } from '../testing/fake-objects.ts'
import { type Change, InformerStore } from './informer-store.ts'

/**
 * A server with a history, a watch that lags behind it, lists that take time, and own requests whose responses arrive
 * late and in any order. Three laws: a completed own write stays visible; no event and no list changes what readers see
 * without a call of the handlers; and once everything has arrived the store equals the server.
 */
const NAMES = ['a', 'b']

type Event = { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: Stored<Widget> }

interface Answer {
  readonly name: string
  readonly version: number
  deliver(): void
}

class World {
  readonly store = new InformerStore<Widget>()
  /** States by version: index is the version. */
  readonly states: ReadonlyMap<string, Stored<Widget>>[] = [new Map()]
  readonly events: (Event | undefined)[] = [undefined]
  readonly answers: Answer[] = []
  /** Newest version of each name in any response so far. */
  readonly told = new Map<string, number>()
  delivered = 0
  uids = 0
  list: { readonly version: number; readonly begunAt: number } | undefined

  get version(): number {
    return this.states.length - 1
  }

  get now(): ReadonlyMap<string, Stored<Widget>> {
    return this.states[this.version] ?? new Map()
  }

  put(name: string): Stored<Widget> {
    const version = this.version + 1
    const previous = this.now.get(name)
    const uid = previous?.metadata.uid ?? `uid-${++this.uids}`
    const meta = { namespace: 'ns', name, uid, resourceVersion: String(version), creationTimestamp: '' }
    const object = { ...widget(name, version), metadata: meta }
    this.states.push(new Map(this.now).set(name, object))
    this.events.push({ type: previous === undefined ? 'ADDED' : 'MODIFIED', object })
    return object
  }

  remove(name: string): Stored<Widget> | undefined {
    const previous = this.now.get(name)
    if (previous === undefined) return undefined
    const next = new Map(this.now)
    next.delete(name)
    this.states.push(next)
    const metadata = { ...previous.metadata, resourceVersion: String(this.version) }
    this.events.push({ type: 'DELETED', object: { ...previous, metadata } })
    return previous
  }

  ownWrite(name: string): void {
    const object = this.put(name)
    this.answers.push({
      name,
      version: this.version,
      deliver: () => this.store.recordWrite(object, object),
    })
  }

  /** As controllers do: with the uid of what they see as precondition. */
  ownDelete(name: string): void {
    const seen = this.store.view.get(`ns/${name}`)
    if (seen === undefined || seen.metadata.uid !== this.now.get(name)?.metadata.uid) return
    const start = this.store.beginDeletion(`ns/${name}`)
    const removed = this.remove(name)
    this.answers.push({
      name,
      version: this.version,
      deliver: () => this.store.recordDeletion(`ns/${name}`, start, removed?.metadata.uid),
    })
  }

  /** After a read from the server, with its uid and version as precondition: the cache may not have it. */
  ownDeleteLive(name: string): void {
    const live = this.now.get(name)
    if (live === undefined) return
    const start = this.store.beginDeletion(`ns/${name}`)
    this.remove(name)
    const { uid, resourceVersion } = live.metadata
    this.answers.push({
      name,
      version: this.version,
      deliver: () => this.store.recordDeletion(`ns/${name}`, start, uid, resourceVersion),
    })
  }

  answer(index: number): void {
    const [answer] = this.answers.splice(index % Math.max(1, this.answers.length), 1)
    if (answer === undefined) return
    answer.deliver()
    this.told.set(answer.name, Math.max(answer.version, this.told.get(answer.name) ?? 0))
  }

  /** The watch delivers its next event; none is open while a list is in progress. */
  deliver(): void {
    if (this.list !== undefined || this.delivered >= this.version) return
    this.delivered++
    const event = this.events[this.delivered]
    if (event !== undefined) this.telling(() => this.store.applyEvent(event.type, event.object))
  }

  bookmark(): void {
    if (this.list !== undefined) return
    this.telling(() => {
      this.store.bookmark(String(this.delivered))
      return []
    })
  }

  /** Handlers were called for every name whose value changed. */
  telling(act: () => readonly Change<Widget>[]): void {
    const read = () => NAMES.map((name) => this.store.view.get(`ns/${name}`))
    const before = read()
    const told = new Set(act().map(({ object }) => object.metadata.name))
    for (const [index, after] of read().entries()) {
      const name = NAMES[index] ?? ''
      if (!isDeepStrictEqual(before[index], after) && !told.has(name))
        throw new Error(`${name} changed without a call of the handlers`)
    }
  }

  beginList(): void {
    // Served from storage: at least as new as any response before the request.
    this.list ??= { version: this.version, begunAt: this.store.sequence }
  }

  finishList(): void {
    if (this.list === undefined) return
    const { version, begunAt } = this.list
    this.list = undefined
    const objects = new Map([...(this.states[version] ?? [])].map(([name, object]) => [`ns/${name}`, object]))
    this.telling(() => this.store.replace(objects, String(version), begunAt))
    this.delivered = version
  }

  check(): void {
    for (const name of NAMES) {
      const shown = this.store.view.get(`ns/${name}`)
      const from = this.told.get(name) ?? 0
      const isRecent = this.states.slice(from).some((state) => isDeepStrictEqual(state.get(name), shown))
      if (!isRecent) throw new Error(`${name} shows ${JSON.stringify(shown)}, older than version ${from}`)
    }
  }

  settle(): void {
    while (this.answers.length > 0) this.answer(0)
    this.finishList()
    while (this.delivered < this.version) this.deliver()
    const shown = new Map([...this.store.view.values()].map((object) => [object.metadata.name, object]))
    if (!isDeepStrictEqual(shown, new Map(this.now))) throw new Error('the settled store differs from the server')
    if (this.store.ownWrites > 0) throw new Error('own writes remain although the watch has passed them')
  }
}

const name = fc.constantFrom(...NAMES)
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('put', 'remove'), name }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('ownWrite', 'ownDelete', 'ownDeleteLive'), name }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('answer'), index: fc.nat(3) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('deliver', 'deliver', 'bookmark') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('beginList', 'finishList') }) },
)

test('no read is older than a completed own write, no change is missed, and in the end the store equals the server', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
      const world = new World()
      for (const action of steps) {
        const { do: what, name: of = 'a', index = 0 }: { do: string; name?: string; index?: number } = action
        if (what === 'put') world.put(of)
        else if (what === 'remove') world.remove(of)
        else if (what === 'ownWrite') world.ownWrite(of)
        else if (what === 'ownDelete') world.ownDelete(of)
        else if (what === 'ownDeleteLive') world.ownDeleteLive(of)
        else if (what === 'answer') world.answer(index)
        else if (what === 'deliver') world.deliver()
        else if (what === 'bookmark') world.bookmark()
        else if (what === 'beginList') world.beginList()
        else world.finishList()
        world.check()
      }
      world.settle()
    }),
    { numRuns: 3_000 },
  )
})
