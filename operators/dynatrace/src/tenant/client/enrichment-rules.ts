/** Rules by which labels and annotations of namespaces become attributes of telemetry. */
import { Type } from 'typebox'
import type { CallExecutor, CallOptions } from './call-executor.ts'
import { type ClassicApi, sortedQuery } from './classic-api.ts'
import { isTenantNotFound } from './errors.ts'
import { requireClusterId } from './settings.ts'

/** One rule. */
export interface EnrichmentRule {
  /** `LABEL` or `ANNOTATION`. */
  readonly type: string
  /** Name of the label or annotation. */
  readonly source: string
  /** Attribute to set; absent: one derived from the source. */
  readonly target?: string
}

const SCHEMA = 'builtin:kubernetes.generic.metadata.enrichment'

const Text = Type.Optional(Type.String())
const Rule = Type.Object({ type: Text, source: Text, target: Text })
const Response = Type.Object({
  items: Type.Optional(
    Type.Array(Type.Object({ value: Type.Optional(Type.Object({ rules: Type.Optional(Type.Array(Rule)) })) })),
  ),
})

/** Calls about enrichment. */
export class EnrichmentCalls {
  readonly #api: ClassicApi
  readonly #executor: CallExecutor

  constructor(api: ClassicApi, executor: CallExecutor) {
    this.#api = api
    this.#executor = executor
  }

  /**
   * The rules that apply to a cluster, or to the whole tenant while the cluster has no entity. A tenant
   * that says it does not know the schema has no rules.
   *
   * @param clusterId UID of the `kube-system` namespace
   */
  async rules(clusterId: string, entityId: string, options: CallOptions = {}): Promise<readonly EnrichmentRule[]> {
    const name = 'enrichment rules'
    requireClusterId(name, clusterId)
    const query = sortedQuery({ schemaIds: SCHEMA, scope: entityId || 'environment' })
    const path = `/v2/settings/effectiveValues${query}`
    const call = this.#api.call({ name, path, token: 'api', acceptsJson: true })
    try {
      const { items = [] } = await this.#executor.json(Response, call, options)
      return items.flatMap(({ value }) => (value?.rules ?? []).map(asRule))
    } catch (error) {
      // A 404 that does not name the schema is about something else, such as a wrong address.
      if (isTenantNotFound(error) && error instanceof Error && error.message.includes(SCHEMA)) return []
      throw error
    }
  }
}

function asRule({ type = '', source = '', target }: Type.Static<typeof Rule>): EnrichmentRule {
  return { type, source, ...(target && { target }) }
}
