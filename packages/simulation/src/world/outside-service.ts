/** A small service outside the cluster, such as a DNS zone or a billing account: what operators call in `resolve`. */
import type { PlainObject } from '../operator-under-test.ts'
import type { OutsideCall, OutsideWorld } from './outside-world.ts'

/** One record of the service. */
export interface OutsideRecord {
  readonly id: string
  readonly name: string
  readonly value: string
}

/**
 * Keeps records. Like many real services it makes a new record for every creation, so that a call repeated without
 * its idempotency key leaves a duplicate behind.
 */
export class OutsideService implements OutsideWorld {
  readonly #records = new Map<string, OutsideRecord>()
  readonly #byKey = new Map<string, string>()
  #next = 1

  /** Creates a record, or returns the earlier one with the same idempotency key. */
  create(name: string, value: string, idempotencyKey?: string): OutsideRecord {
    const known = idempotencyKey === undefined ? undefined : this.#byKey.get(idempotencyKey)
    const existing = known === undefined ? undefined : this.#records.get(known)
    if (existing !== undefined) return existing
    const record = { id: `record-${this.#next++}`, name, value }
    this.#records.set(record.id, record)
    if (idempotencyKey !== undefined) this.#byKey.set(idempotencyKey, record.id)
    return record
  }

  /** Changes a record; false if there is none. */
  update(id: string, value: string): boolean {
    const record = this.#records.get(id)
    if (record !== undefined) this.#records.set(id, { ...record, value })
    return record !== undefined
  }

  /** Removes a record; false when there was none. */
  remove(id: string): boolean {
    return this.#records.delete(id)
  }

  list(): readonly OutsideRecord[] {
    return [...this.#records.values()]
  }

  /** Records by name: ids differ between two good runs, duplicates must not go unseen. */
  state(): Readonly<Record<string, PlainObject>> {
    const state: Record<string, PlainObject> = {}
    const copies = new Map<string, number>()
    for (const { name, value } of this.list()) {
      const copy = (copies.get(name) ?? 0) + 1
      copies.set(name, copy)
      state[copy === 1 ? name : `${name} (copy ${copy})`] = { value }
    }
    return state
  }
}

/** The service as an operator reaches it: every call takes its way through the exploration. */
export interface OutsideClient {
  create(name: string, value: string, idempotencyKey?: string): Promise<OutsideRecord>
  update(id: string, value: string): Promise<boolean>
  remove(id: string): Promise<boolean>
  list(): Promise<readonly OutsideRecord[]>
}

/** Makes a client whose calls go through `call`. */
export function outsideClient(service: OutsideService, call: OutsideCall): OutsideClient {
  return {
    create: (name, value, key) => call(`create ${name}`, () => service.create(name, value, key)),
    update: (id, value) => call(`update ${id}`, () => service.update(id, value)),
    remove: (id) => call(`remove ${id}`, () => service.remove(id)),
    list: () => call('list', () => service.list()),
  }
}
