/** EdgeConnects as the platform knows them. */
import { Type } from 'typebox'
import type { CallOptions } from '../call-executor.ts'
import { sortedQuery } from '../classic-api.ts'
import { TenantResponseError } from '../errors.ts'
import type { PlatformApi } from './platform-api.ts'

/** An EdgeConnect of the platform. */
export interface EdgeConnectRecord {
  readonly id: string
  readonly name: string
  readonly oauthClientId: string
  readonly hostPatterns: readonly string[]
  readonly managedByOperator: boolean
}

/** One just created; its credentials are shown this once. */
export interface CreatedEdgeConnect extends EdgeConnectRecord {
  /** A secret. */
  readonly oauthClientSecret: string
  readonly oauthClientResource: string
}

/** A host name that EdgeConnect maps to another one. */
export interface HostMapping {
  readonly from: string
  readonly to: string
}

/** What is written. */
export interface EdgeConnectRequest {
  readonly name: string
  /** Absent or empty: nothing is restricted to patterns. */
  readonly hostPatterns?: readonly string[]
  readonly hostMappings: readonly HostMapping[]
  /** Only for updates. */
  readonly oauthClientId?: string
}

const Text = Type.Optional(Type.String())
const fields = {
  id: Text,
  name: Text,
  oauthClientId: Text,
  hostPatterns: Type.Optional(Type.Array(Type.String())),
  managedByDynatraceOperator: Type.Optional(Type.Boolean()),
}
const Record = Type.Object(fields)
const List = Type.Object({ edgeConnects: Type.Optional(Type.Array(Record)) })
const Created = Type.Object({
  ...fields,
  id: Type.String({ minLength: 1 }),
  oauthClientId: Type.String({ minLength: 1 }),
  oauthClientSecret: Type.String({ minLength: 1 }),
  oauthClientResource: Type.String({ minLength: 1 }),
})

const PATH = '/platform/app-engine/edge-connect/v1/edge-connects'

/** Calls about EdgeConnects. */
export class EdgeConnectCalls {
  readonly #api: PlatformApi

  constructor(api: PlatformApi) {
    this.#api = api
  }

  /** The one with this name, or `undefined`. Several are an error: it is not known which one is ours. */
  async findByName(name: string, options: CallOptions = {}): Promise<EdgeConnectRecord | undefined> {
    const query = sortedQuery({ 'add-fields': 'name,managedByDynatraceOperator', filter: `name='${name}'` })
    const call = { name: 'EdgeConnect list', path: `${PATH}${query}` }
    const { edgeConnects = [] } = await this.#api.json(List, call, options)
    if (edgeConnects.length > 1) {
      throw new TenantResponseError(
        call.name,
        `${edgeConnects.length} EdgeConnects are named ${name}; delete all but one`,
      )
    }
    const [first] = edgeConnects
    return first && asRecord(first)
  }

  async get(id: string, options: CallOptions = {}): Promise<EdgeConnectRecord> {
    return asRecord(await this.#api.json(Record, { name: 'EdgeConnect get', path: pathOf(id) }, options))
  }

  /** Creates one. Its secret is never shown again. */
  async create(request: EdgeConnectRequest, options: CallOptions = {}): Promise<CreatedEdgeConnect> {
    const { oauthClientId: _, ...rest } = request
    const call = { name: 'EdgeConnect creation', method: 'POST', path: PATH, body: asBody(rest) } as const
    const response = await this.#api.json(Created, call, options)
    const { oauthClientSecret, oauthClientResource } = response
    return { ...asRecord(response), oauthClientSecret, oauthClientResource }
  }

  /** Replaces one; only 200 is success. */
  update(id: string, request: EdgeConnectRequest, options: CallOptions = {}): Promise<void> {
    const body = asBody(request)
    return this.#api.done(
      { name: 'EdgeConnect update', method: 'PUT', path: pathOf(id), body, success: [200] },
      options,
    )
  }

  /** Deletes one; only 204 is success. */
  delete(id: string, options: CallOptions = {}): Promise<void> {
    return this.#api.done({ name: 'EdgeConnect deletion', method: 'DELETE', path: pathOf(id), success: [204] }, options)
  }
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`
}

function asBody({ name, oauthClientId, hostPatterns, hostMappings }: EdgeConnectRequest) {
  return {
    name,
    ...(oauthClientId && { oauthClientId }),
    hostPatterns: hostPatterns && hostPatterns.length > 0 ? hostPatterns : null,
    hostMappings,
    managedByDynatraceOperator: true,
  }
}

function asRecord(response: Type.Static<typeof Record>): EdgeConnectRecord {
  const { id = '', name = '', oauthClientId = '', hostPatterns = [], managedByDynatraceOperator = false } = response
  return { id, name, oauthClientId, hostPatterns, managedByOperator: managedByDynatraceOperator }
}
