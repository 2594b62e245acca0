/** The settings of a tenant: objects of schemas, each at a scope. */
import { type Clock, isRecord } from '@reeve/http'
import { BoundedMap } from '../../../bounded-map.ts'
import { STATE_LIMITS } from '../defaults.ts'
import { type RandomBytes, randomHex, randomText } from '../random-text.ts'
import { Refusal, violation } from '../refusal.ts'
import { SCHEMA_IDS, type SettingsSchema, STANDARD_SCHEMAS } from './settings-schemas.ts'

/** A settings object. */
export interface SettingsObject {
  readonly objectId: string
  readonly schemaId: string
  readonly schemaVersion: string
  /** An entity id, or `environment`. */
  readonly scope: string
  readonly value: Readonly<Record<string, unknown>>
  readonly modifiedMs: number
}

/** What a request says about an object to be written. */
export interface SettingsDraft {
  readonly schemaId: string
  readonly schemaVersion?: string | undefined
  readonly scope?: string | undefined
  readonly value: Readonly<Record<string, unknown>>
}

/** Settings that are found again once they are written. */
export class Settings {
  readonly #objects = new Map<string, SettingsObject>()
  readonly #schemas = new Map<string, SettingsSchema>()
  readonly #clusters = new BoundedMap<string, string>(STATE_LIMITS.settingsObjects)
  readonly #clock: Clock
  readonly #random: RandomBytes

  constructor(clock: Clock, random: RandomBytes) {
    this.#clock = clock
    this.#random = random
    for (const schema of STANDARD_SCHEMAS) this.setSchema(schema)
  }

  schemas(): readonly SettingsSchema[] {
    return [...this.#schemas.values()]
  }

  /** *Errors*: 404 naming the schema. */
  schema(schemaId: string): SettingsSchema {
    const schema = this.#schemas.get(schemaId)
    if (schema === undefined) throw new Refusal(404, `Schema not found: ${schemaId}`)
    return schema
  }

  /** Adds a schema, or replaces it: fewer versions simulate an older tenant. */
  setSchema(schema: SettingsSchema): void {
    this.#schemas.set(schema.schemaId, schema)
  }

  /** Removes a schema with all its objects, as in a tenant that never had it. */
  removeSchema(schemaId: string): void {
    this.#schemas.delete(schemaId)
    for (const { objectId, schemaId: of } of this.list()) if (of === schemaId) this.#objects.delete(objectId)
  }

  /** Every object, the oldest first. */
  list(): readonly SettingsObject[] {
    return [...this.#objects.values()]
  }

  /** *Errors*: 404. */
  get(objectId: string): SettingsObject {
    const object = this.#objects.get(objectId)
    if (object === undefined) throw new Refusal(404, `Settings object not found: ${objectId}`)
    return object
  }

  /**
   * Checks a draft without writing it; returns its scope and version.
   *
   * *Errors*: 404 for an unknown schema or version, 400 naming the field that is wrong.
   */
  check(draft: SettingsDraft): { readonly scope: string; readonly schemaVersion: string } {
    const { versions, requiredFields } = this.schema(draft.schemaId)
    const schemaVersion = draft.schemaVersion ?? versions[0] ?? ''
    if (!versions.includes(schemaVersion)) {
      throw new Refusal(404, `Schema version not found: ${draft.schemaId} ${schemaVersion}`)
    }
    for (const field of requiredFields) {
      if (draft.value[field] === undefined) throw violation('PAYLOAD_BODY', `value.${field}`, 'must not be null')
    }
    return { schemaVersion, scope: draft.scope ?? this.#impliedScope(draft) }
  }

  /**
   * Writes a new object. The setting of a Kubernetes cluster without a scope gets the entity of that cluster, and
   * writing it again changes the one that exists.
   */
  create(draft: SettingsDraft): SettingsObject {
    const { scope, schemaVersion } = this.check(draft)
    const existing = draft.schemaId === SCHEMA_IDS.cluster ? this.#clusterObject(draft.value.clusterId) : undefined
    if (existing === undefined && this.#objects.size >= STATE_LIMITS.settingsObjects) {
      throw new Refusal(400, `The tenant has the maximum of ${STATE_LIMITS.settingsObjects} settings objects.`)
    }
    return this.#put({
      objectId: existing?.objectId ?? `vu9U3h${randomText(this.#random, 50)}`,
      schemaId: draft.schemaId,
      schemaVersion,
      scope: existing?.scope ?? scope,
      value: draft.value,
      modifiedMs: this.#clock.now(),
    })
  }

  /** *Errors*: 404; 400 naming the field that is wrong. */
  update(objectId: string, value: Readonly<Record<string, unknown>>): SettingsObject {
    const object = this.get(objectId)
    this.check({ ...object, value })
    return this.#put({ ...object, value, modifiedMs: this.#clock.now() })
  }

  /** *Errors*: 404. */
  delete(objectId: string): void {
    this.get(objectId)
    this.#objects.delete(objectId)
  }

  /** What applies at a scope: what was written there, else for the whole tenant, else the schema's default. */
  effective(schemaId: string, scope: string): readonly { readonly value: unknown; readonly origin: string }[] {
    const { defaultValue } = this.schema(schemaId)
    for (const origin of [scope, 'environment']) {
      const found = this.list().filter((object) => object.schemaId === schemaId && object.scope === origin)
      if (found.length > 0) return found.map(({ value }) => ({ value, origin }))
    }
    return defaultValue === undefined ? [] : [{ value: defaultValue, origin: 'schema' }]
  }

  #put(object: SettingsObject): SettingsObject {
    this.#objects.set(object.objectId, object)
    return object
  }

  #impliedScope({ schemaId, value: { clusterId } }: SettingsDraft): string {
    if (schemaId !== SCHEMA_IDS.cluster) throw violation('PAYLOAD_BODY', 'scope', 'must not be null')
    if (typeof clusterId !== 'string' || clusterId === '') {
      throw violation('PAYLOAD_BODY', 'value.clusterId', 'must not be empty')
    }
    const known = this.#clusters.get(clusterId) ?? `KUBERNETES_CLUSTER-${randomHex(this.#random, 16)}`
    this.#clusters.set(clusterId, known)
    return known
  }

  #clusterObject(clusterId: unknown): SettingsObject | undefined {
    return this.list().find(({ schemaId, value }) => schemaId === SCHEMA_IDS.cluster && value.clusterId === clusterId)
  }
}

/** Reads one object out of a request. *Errors*: 400 naming the field that is wrong. */
export function readSettingsDraft(value: unknown): SettingsDraft {
  if (!isRecord(value)) throw violation('PAYLOAD_BODY', '', 'must be a JSON object')
  const { schemaId, schemaVersion, scope, value: content } = value
  if (typeof schemaId !== 'string' || schemaId === '') throw violation('PAYLOAD_BODY', 'schemaId', 'must not be empty')
  if (!isRecord(content)) throw violation('PAYLOAD_BODY', 'value', 'must be a JSON object')
  return { schemaId, schemaVersion: text('schemaVersion', schemaVersion), scope: text('scope', scope), value: content }
}

function text(field: string, value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') throw violation('PAYLOAD_BODY', field, 'must be a text')
  return value
}
