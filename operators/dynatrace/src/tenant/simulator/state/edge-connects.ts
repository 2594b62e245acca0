/** The EdgeConnects of a tenant. */
import { type Clock, isRecord } from '@reeve/http'
import { STATE_LIMITS } from '../defaults.ts'
import { type RandomBytes, randomUuid } from '../random-text.ts'
import { Refusal, violation } from '../refusal.ts'
import type { OAuthClients } from './oauth-clients.ts'

/** A name that an EdgeConnect resolves to another. */
export interface HostMapping {
  readonly from: string
  readonly to: string
}

/** An EdgeConnect as the tenant keeps it. */
export interface EdgeConnectObject {
  readonly id: string
  readonly name: string
  readonly hostPatterns: readonly string[] | null
  readonly hostMappings: readonly HostMapping[]
  readonly managedByDynatraceOperator: boolean
  readonly oauthClientId: string
  readonly modifiedMs: number
}

/** What creating one returns, once: the secret is never shown again. */
export interface CreatedEdgeConnect {
  readonly object: EdgeConnectObject
  readonly oauthClientSecret: string
  readonly oauthClientResource: string
}

/** Scopes of the client that is created for each. */
const CLIENT_SCOPES = ['app-engine:edge-connects:connect']

/** EdgeConnects exist until they are deleted, and so does the OAuth client of each. */
export class EdgeConnects {
  readonly #objects = new Map<string, EdgeConnectObject>()
  readonly #tenantId: string
  readonly #clients: OAuthClients
  readonly #clock: Clock
  readonly #random: RandomBytes

  constructor(tenantId: string, clients: OAuthClients, clock: Clock, random: RandomBytes) {
    this.#tenantId = tenantId
    this.#clients = clients
    this.#clock = clock
    this.#random = random
  }

  list(): readonly EdgeConnectObject[] {
    return [...this.#objects.values()]
  }

  /** *Errors*: 404. */
  get(id: string): EdgeConnectObject {
    const object = this.#objects.get(id)
    if (object === undefined) throw new Refusal(404, `EdgeConnect not found: ${id}`)
    return object
  }

  /** *Errors*: 400 naming the field that is wrong, 409 when the name is taken. */
  create(body: Readonly<Record<string, unknown>>): CreatedEdgeConnect {
    const draft = readDraft(body)
    this.#requireFreeName(draft.name)
    if (this.#objects.size >= STATE_LIMITS.edgeConnects) {
      throw new Refusal(400, `The tenant has the maximum of ${STATE_LIMITS.edgeConnects} EdgeConnects.`)
    }
    const { id: oauthClientId, secret: oauthClientSecret } = this.#clients.add({ scopes: CLIENT_SCOPES })
    const id = randomUuid(this.#random)
    const object = { id, ...draft, oauthClientId, modifiedMs: this.#clock.now() }
    this.#objects.set(id, object)
    return { object, oauthClientSecret, oauthClientResource: `urn:dtenvironment:${this.#tenantId}` }
  }

  /** *Errors*: 404; 400 naming the field that is wrong; 409 when the name is taken. */
  update(id: string, body: Readonly<Record<string, unknown>>): EdgeConnectObject {
    const before = this.get(id)
    const draft = readDraft(body)
    if (draft.name !== before.name) this.#requireFreeName(draft.name)
    const object = { ...before, ...draft, modifiedMs: this.#clock.now() }
    this.#objects.set(id, object)
    return object
  }

  /** *Errors*: 404. */
  delete(id: string): void {
    this.#clients.remove(this.get(id).oauthClientId)
    this.#objects.delete(id)
  }

  #requireFreeName(name: string): void {
    if (!this.list().some((object) => object.name === name)) return
    throw new Refusal(409, `An EdgeConnect named ${name} exists already.`)
  }
}

function readDraft(body: Readonly<Record<string, unknown>>) {
  const { name, hostPatterns = null, hostMappings = [], managedByDynatraceOperator = false } = body
  if (typeof name !== 'string' || name === '') throw violation('PAYLOAD_BODY', 'name', 'must not be null')
  if (!/^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$/.test(name)) {
    throw violation('PAYLOAD_BODY', 'name', 'must be up to 50 lower-case letters, digits and -')
  }
  if (
    hostPatterns !== null &&
    !(Array.isArray(hostPatterns) && hostPatterns.every((each) => typeof each === 'string'))
  ) {
    throw violation('PAYLOAD_BODY', 'hostPatterns', 'must be an array of texts')
  }
  if (typeof managedByDynatraceOperator !== 'boolean') {
    throw violation('PAYLOAD_BODY', 'managedByDynatraceOperator', 'must be a boolean')
  }
  return { name, hostPatterns, hostMappings: readMappings(hostMappings), managedByDynatraceOperator }
}

function readMappings(value: unknown): readonly HostMapping[] {
  if (value === null) return []
  if (!Array.isArray(value)) throw violation('PAYLOAD_BODY', 'hostMappings', 'must be an array')
  return value.map((mapping: unknown) => {
    const { from, to } = isRecord(mapping) ? mapping : {}
    if (typeof from === 'string' && typeof to === 'string') return { from, to }
    throw violation('PAYLOAD_BODY', 'hostMappings', 'must hold objects with from and to')
  })
}
