/** The settings by which the platform reaches a Kubernetes API through an EdgeConnect. */
import { Type } from 'typebox'
import type { CallOptions } from '../call-executor.ts'
import { sortedQuery } from '../classic-api.ts'
import type { PlatformApi } from './platform-api.ts'

/** A connection to one cluster. */
export interface KubernetesConnection {
  /** Name of the EdgeConnect. */
  readonly name: string
  readonly namespace: string
  /** UID of the `kube-system` namespace. */
  readonly uid: string
  /** A secret. */
  readonly token: string
}

/** A connection that exists. */
export interface ConnectionSetting {
  readonly objectId: string
  readonly value: KubernetesConnection
}

const SCHEMA = 'app:dynatrace.kubernetes.connector:connection'
const SCOPE = 'environment'
const PATH = '/platform/classic/environment-api/v2/settings/objects'
const SUCCESS = [200, 201, 204]

const Text = Type.Optional(Type.String())
const List = Type.Object({
  items: Type.Optional(
    Type.Array(
      Type.Object({
        objectId: Type.String({ minLength: 1 }),
        value: Type.Optional(Type.Object({ name: Text, namespace: Text, uid: Text, token: Text })),
      }),
    ),
  ),
})

/** Calls about connections. */
export class ConnectionSettingCalls {
  readonly #api: PlatformApi

  constructor(api: PlatformApi) {
    this.#api = api
  }

  /** The setting of this EdgeConnect in this cluster, or `undefined`. */
  async find(
    wanted: Omit<KubernetesConnection, 'token'>,
    options: CallOptions = {},
  ): Promise<ConnectionSetting | undefined> {
    const query = sortedQuery({ schemaIds: SCHEMA, scopes: SCOPE })
    const call = { name: 'connection settings list', path: `${PATH}${query}`, success: SUCCESS }
    const { items = [] } = await this.#api.json(List, call, options)
    for (const { objectId, value = {} } of items) {
      const { name = '', namespace = '', uid = '', token = '' } = value
      if (name !== wanted.name || namespace !== wanted.namespace || uid !== wanted.uid) continue
      return { objectId, value: { name, namespace, uid, token } }
    }
    return undefined
  }

  create(connection: KubernetesConnection, options: CallOptions = {}): Promise<void> {
    this.#api.protect(connection.token)
    const body = [asBody(null, connection)]
    return this.#api.done(
      { name: 'connection setting creation', method: 'POST', path: PATH, body, success: SUCCESS },
      options,
    )
  }

  update(setting: ConnectionSetting, options: CallOptions = {}): Promise<void> {
    this.#api.protect(setting.value.token)
    const path = pathOf(setting.objectId)
    const body = asBody(setting.objectId, setting.value)
    return this.#api.done({ name: 'connection setting update', method: 'PUT', path, body, success: SUCCESS }, options)
  }

  delete(objectId: string, options: CallOptions = {}): Promise<void> {
    const path = pathOf(objectId)
    return this.#api.done({ name: 'connection setting deletion', method: 'DELETE', path, success: SUCCESS }, options)
  }
}

function pathOf(objectId: string): string {
  return `${PATH}/${encodeURIComponent(objectId)}`
}

function asBody(objectId: string | null, { name, uid, namespace, token }: KubernetesConnection) {
  return { objectId, schemaId: SCHEMA, scope: SCOPE, value: { name, uid, namespace, token } }
}
