/** Keeps the status of ValidatingAdmissionPolicies: whether their expressions fit the types of what they match. */
import type { ClusterApi, ClusterController } from '../../api/cluster-api.ts'
import { isJsonObject, type JsonObject, jsonEqual, objectAt, stringAt } from '../../json.ts'
import type { ResourceInfo } from '../../registry/resource-info.ts'
import { POLICIES, readPolicy } from './policy.ts'

/** Dependencies of the controller. */
export interface TypeCheckingOptions {
  readonly api: Pick<ClusterApi, 'get' | 'list' | 'subscribe' | 'update'>
  /** The served resource, if it exists. */
  readonly lookup: (group: string, version: string, plural: string) => ResourceInfo | undefined
  readonly onError: (error: unknown, policy: string) => void
}

/** As in the real server, only the first kinds are checked. */
const MAX_KINDS = 10

/** Checks each generation of a policy once. */
export class PolicyTypeChecking implements ClusterController {
  readonly name = 'policy-type-checking'
  readonly #options: TypeCheckingOptions
  #unsubscribe: (() => void) | undefined
  #working: Promise<void> = Promise.resolve()

  constructor(options: TypeCheckingOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#unsubscribe !== undefined) return
    this.#unsubscribe = this.#options.api.subscribe(({ type, resource, object }) => {
      if (resource === POLICIES && type !== 'DELETED') this.#enqueue(nameOf(object))
    })
    for (const policy of this.#options.api.list(POLICIES)) this.#enqueue(nameOf(policy))
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    await this.#working
  }

  #enqueue(name: string): void {
    this.#working = this.#working.then(async () => {
      try {
        if (this.#unsubscribe !== undefined) await this.#check(name)
      } catch (error) {
        // A conflict comes with an event, which triggers another check.
        this.#options.onError(error, name)
      }
    })
  }

  async #check(name: string): Promise<void> {
    const policy = this.#options.api.get(POLICIES, undefined, name)
    if (policy === undefined) return
    const { generation } = objectAt(policy, 'metadata')
    const status = objectAt(policy, 'status')
    if (isJsonObject(status.typeChecking) && status.observedGeneration === generation) return
    // Imported lazily: most clusters have no policies.
    const { typeWarnings } = await import('./policy-expressions.ts')
    const { typeOfSchema } = await import('../../cel/static-type.ts')
    const kinds = this.#kindsOf(policy).map((info) => ({
      label: `${info.group === '' ? '' : `${info.group}/`}${info.version}, Kind=${info.kind}`,
      type: typeOfSchema(info.schema),
    }))
    const warnings = typeWarnings(policy, kinds).map((warning) => ({ ...warning }))
    const typeChecking = warnings.length === 0 ? {} : { expressionWarnings: warnings }
    const next = { ...status, typeChecking, ...(generation === undefined ? {} : { observedGeneration: generation }) }
    if (jsonEqual(status, next)) return
    await this.#options.api.update(POLICIES, { ...policy, status: next }, { subresource: 'status' })
  }

  /** The kinds that its rules name; those with wildcards are not checked. */
  #kindsOf(policy: JsonObject): readonly ResourceInfo[] {
    const kinds = readPolicy(policy).constraints.rules.flatMap(({ apiGroups, apiVersions, resources }) =>
      apiGroups.flatMap((group) =>
        apiVersions.flatMap((version) =>
          resources.flatMap((plural) => this.#options.lookup(group, version, plural) ?? []),
        ),
      ),
    )
    return [...new Set(kinds)].slice(0, MAX_KINDS)
  }
}

function nameOf(object: JsonObject): string {
  return stringAt(objectAt(object, 'metadata'), 'name') ?? ''
}
