/** Settings of a tenant: finding the cluster's entity, and creating what it needs. */
import { Type } from 'typebox'
import type { CallExecutor, CallOptions } from './call-executor.ts'
import { type ClassicApi, sortedQuery } from './classic-api.ts'
import { isTenantNotFound, TenantCallError, TenantResponseError } from './errors.ts'
import {
  APP_TRANSITION_SCHEMA,
  type ClusterIdentity,
  clusterSetting,
  KSPM_SCHEMA,
  KUBERNETES_SCHEMA,
  kspmSetting,
  kubernetesAppSetting,
  LOG_STORAGE_SCHEMA,
  type LogRule,
  legacyClusterSetting,
  logStorageSetting,
  type SettingsObject,
} from './settings-objects.ts'

/** The entity that stands for a Kubernetes cluster. */
export interface ClusterEntity {
  /** Such as `KUBERNETES_CLUSTER-A1234567BCD8EF00`. */
  readonly id: string
  readonly name: string
}

/** Settings of one schema in one scope. */
export interface SettingsCount {
  readonly totalCount: number
  readonly items: readonly { readonly objectId: string; readonly value: unknown }[]
}

const Text = Type.Optional(Type.String())
const Entities = Type.Object({
  items: Type.Optional(Type.Array(Type.Object({ scope: Text, value: Type.Optional(Type.Object({ label: Text })) }))),
})
const Counted = Type.Object({
  totalCount: Type.Optional(Type.Integer()),
  items: Type.Optional(Type.Array(Type.Object({ objectId: Text, value: Type.Optional(Type.Unknown()) }))),
})
const Created = Type.Array(Type.Object({ objectId: Text }))

const PATH = '/v2/settings/objects'

/** Calls about settings. */
export class SettingsCalls {
  readonly #api: ClassicApi
  readonly #executor: CallExecutor

  constructor(api: ClassicApi, executor: CallExecutor) {
    this.#api = api
    this.#executor = executor
  }

  /** The entity of the cluster whose `kube-system` namespace has this UID; `undefined` while there is none. */
  async findCluster(clusterId: string, options: CallOptions = {}): Promise<ClusterEntity | undefined> {
    const name = 'cluster entity search'
    requireClusterId(name, clusterId)
    const query = {
      schemaIds: KUBERNETES_SCHEMA,
      fields: 'value,scope',
      filter: `value.clusterId='${clusterId}'`,
      pageSize: '500',
    }
    const call = this.#get(name, PATH, query)
    const [first] = (await this.#executor.json(Entities, call, options)).items ?? []
    return first && { id: first.scope ?? '', name: first.value?.label ?? '' }
  }

  /** Whether, and how often, the setting of the cluster exists. Without an entity it is zero, without a request. */
  async countClusterSettings(entityId: string, options: CallOptions = {}): Promise<number> {
    if (entityId === '') return 0
    return (await this.#count('cluster settings', KUBERNETES_SCHEMA, entityId, options)).totalCount
  }

  /** How often the Kubernetes app is switched; `undefined` if the tenant does not have this setting. */
  async countKubernetesAppSettings(entityId: string, options: CallOptions = {}): Promise<number | undefined> {
    if (entityId === '') return 0
    return this.#countIfKnown('Kubernetes app settings', APP_TRANSITION_SCHEMA, entityId, options)
  }

  /** How often security posture management is set up; `undefined` if the tenant does not have this setting. */
  async countKspmSettings(entityId: string, options: CallOptions = {}): Promise<number | undefined> {
    if (entityId === '') return 0
    return this.#countIfKnown('KSPM settings', KSPM_SCHEMA, entityId, options)
  }

  /** The log ingest rules of the cluster. */
  async logMonitoringSettings(entityId: string, options: CallOptions = {}): Promise<SettingsCount> {
    if (entityId === '') return { totalCount: 0, items: [] }
    return this.#count('log monitoring settings', LOG_STORAGE_SCHEMA, entityId, options)
  }

  /**
   * Creates the setting of a cluster and returns its id. A tenant that does not know the current schema (404) is
   * requested again with the one of old tenants.
   */
  async createClusterSetting(cluster: ClusterIdentity, options: CallOptions = {}): Promise<string> {
    const name = 'cluster setting creation'
    requireClusterId(name, cluster.clusterId)
    try {
      return await this.#create(name, clusterSetting(cluster), options)
    } catch (error) {
      if (!isTenantNotFound(error)) throw error
      return this.#create(name, legacyClusterSetting(cluster), options)
    }
  }

  /** Switches the Kubernetes app on and returns the id of the setting. */
  enableKubernetesApp(entityId: string, options: CallOptions = {}): Promise<string> {
    return this.#create('Kubernetes app setting creation', kubernetesAppSetting(entityId), options)
  }

  /** Creates the log ingest rule of a cluster and returns its id. */
  createLogMonitoringSetting(
    entityId: string,
    clusterName: string,
    rules: readonly LogRule[],
    options: CallOptions = {},
  ): Promise<string> {
    const object = logStorageSetting(entityId, clusterName, rules)
    return this.#create('log monitoring setting creation', object, options)
  }

  /** Sets security posture management up and returns the id of the setting. */
  enableKspm(entityId: string, options: CallOptions = {}): Promise<string> {
    return this.#create('KSPM setting creation', kspmSetting(entityId), options)
  }

  async #countIfKnown(name: string, schema: string, scope: string, options: CallOptions): Promise<number | undefined> {
    try {
      return (await this.#count(name, schema, scope, options)).totalCount
    } catch (error) {
      if (isTenantNotFound(error)) return undefined
      throw error
    }
  }

  async #count(name: string, schema: string, scope: string, options: CallOptions): Promise<SettingsCount> {
    const call = this.#get(name, PATH, { schemaIds: schema, scopes: scope })
    const { totalCount = 0, items = [] } = await this.#executor.json(Counted, call, options)
    return { totalCount, items: items.map(({ objectId = '', value }) => ({ objectId, value })) }
  }

  async #create(name: string, object: SettingsObject, options: CallOptions): Promise<string> {
    const call = this.#api.call({
      name,
      method: 'POST',
      path: `${PATH}?validateOnly=false`,
      token: 'api',
      acceptsJson: true,
      body: [object],
      refusalForm: 'list',
      countsAsUnavailable: false,
    })
    const created = await this.#executor.json(Created, call, options)
    const [only] = created
    if (only === undefined || created.length !== 1) {
      throw new TenantResponseError(name, `the response has ${created.length} entries instead of one`)
    }
    return only.objectId ?? ''
  }

  #get(name: string, path: string, query: Readonly<Record<string, string>>) {
    return this.#api.call({ name, path: `${path}${sortedQuery(query)}`, token: 'api', acceptsJson: true })
  }
}

/** Without the UID of the cluster, settings of any cluster would match. */
export function requireClusterId(call: string, clusterId: string): void {
  if (clusterId === '') throw new TenantCallError(call, 'the UID of the kube-system namespace is not known')
}
