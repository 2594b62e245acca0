/** The hosts that a tenant monitors, and the events about them. */
import { type Clock, isRecord } from '@reeve/http'
import { BoundedMap } from '../../../bounded-map.ts'
import { STATE_LIMITS } from '../defaults.ts'
import { type RandomBytes, randomHex } from '../random-text.ts'
import { violation } from '../refusal.ts'

/** A monitored host. */
export interface HostEntity {
  readonly entityId: string
  /** @default the default zone */
  readonly networkZoneId?: string
  readonly ipAddresses: readonly string[]
  readonly displayName?: string
}

/** An event as sent, with its number. */
export interface StoredEvent {
  readonly id: string
  readonly eventType: string
  readonly description: string
  readonly source: string
  readonly entityIds: readonly string[]
  readonly startMs: number
  readonly endMs: number
  readonly receivedMs: number
}

const EVENT_TYPES = new Set([
  'AVAILABILITY_EVENT',
  'CUSTOM_ALERT',
  'CUSTOM_ANNOTATION',
  'CUSTOM_CONFIGURATION',
  'CUSTOM_DEPLOYMENT',
  'CUSTOM_INFO',
  'ERROR_EVENT',
  'MARKED_FOR_TERMINATION',
  'PERFORMANCE_EVENT',
  'RESOURCE_CONTENTION',
])

/** Hosts are managed by `add` and `remove`; events are only received. */
export class HostsAndEvents {
  readonly #hosts = new Map<string, HostEntity>()
  readonly #events = new BoundedMap<string, StoredEvent>(STATE_LIMITS.events)
  readonly #clock: Clock
  readonly #random: RandomBytes

  constructor(clock: Clock, random: RandomBytes) {
    this.#clock = clock
    this.#random = random
  }

  /** Every host, in the order in which they appeared. */
  hosts(): readonly HostEntity[] {
    return [...this.#hosts.values()]
  }

  /** Adds a host, with a generated id by default, and returns it. */
  add(host: Omit<HostEntity, 'entityId'> & { readonly entityId?: string }): HostEntity {
    const entity = { ...host, entityId: host.entityId ?? `HOST-${randomHex(this.#random, 16)}` }
    this.#hosts.set(entity.entityId, entity)
    return entity
  }

  remove(entityId: string): void {
    this.#hosts.delete(entityId)
  }

  /** What was sent, the oldest first; the last 1000. */
  events(): readonly StoredEvent[] {
    return this.#events.values()
  }

  /** *Errors*: 400 naming what is wrong with the event. */
  take(event: Readonly<Record<string, unknown>>): StoredEvent {
    const { eventType, description = '', source = '', attachRules, start, end } = event
    if (typeof eventType !== 'string' || !EVENT_TYPES.has(eventType)) {
      throw violation('PAYLOAD_BODY', 'eventType', `must be one of ${[...EVENT_TYPES].join(', ')}`)
    }
    if (typeof source !== 'string' || source === '') throw violation('PAYLOAD_BODY', 'source', 'must not be empty')
    const receivedMs = this.#clock.now()
    const stored: StoredEvent = {
      id: `${randomHex(this.#random, 16)}_${receivedMs}`,
      eventType,
      description: String(description),
      source,
      entityIds: this.#entityIds(attachRules),
      startMs: time('start', start, receivedMs),
      endMs: time('end', end, receivedMs),
      receivedMs,
    }
    this.#events.set(stored.id, stored)
    return stored
  }

  #entityIds(attachRules: unknown): readonly string[] {
    const ids = isRecord(attachRules) ? (attachRules.entityIds ?? []) : []
    if (!Array.isArray(ids) || ids.length === 0) {
      throw violation('PAYLOAD_BODY', 'attachRules.entityIds', 'must name at least one entity')
    }
    for (const id of ids) {
      if (typeof id !== 'string' || !this.#hosts.has(id)) {
        throw violation('PAYLOAD_BODY', 'attachRules.entityIds', `there is no entity ${JSON.stringify(id)}`)
      }
    }
    return ids
  }
}

function time(field: string, value: unknown, defaultMs: number): number {
  if (value === undefined || value === null) return defaultMs
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) {
    throw violation('PAYLOAD_BODY', field, 'must be milliseconds since the epoch')
  }
  return value
}
