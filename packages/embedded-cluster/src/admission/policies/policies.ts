/** ValidatingAdmissionPolicies as an admission plug-in. */
import type { AdmissionAttributes, AdmissionPlugin } from '../../api/admission-plugin.ts'
import { forbidden, invalid } from '../../api/api-errors.ts'
import type { ClusterApi } from '../../api/cluster-api.ts'
import { formatLabelSelector } from '../../api/label-selector.ts'
import type { Authorizer } from '../../auth/authorizer.ts'
import { isJsonObject, type JsonObject, objectAt, stringAt } from '../../json.ts'
import { groupResource, type ResourceInfo } from '../../registry/resource-info.ts'
import { StatusError } from '../../status-error.ts'
import { writeReview } from '../admission-review.ts'
import { requestedName } from '../namespace-lifecycle.ts'
import { isExempt, matchRules, matchSelectors } from '../webhook-match.ts'
import type { Denial, PolicyEvaluator } from './evaluate-policy.ts'
import type { RequestVariables } from './expressions.ts'
import { type Binding, type Constraints, POLICIES, type Policy, PolicyList } from './policy.ts'

/** Dependencies of the plug-in. */
export interface PolicyAdmissionOptions {
  readonly api: Pick<ClusterApi, 'get' | 'list' | 'subscribe' | 'resources'>
  /** Every version in which a resource is served. */
  readonly versionsOf: (groupResource: string) => readonly ResourceInfo[]
  /** Converts an object between versions of its resource. */
  readonly convert: (object: JsonObject, to: ResourceInfo, signal: AbortSignal) => Promise<JsonObject>
  readonly randomUuid: () => string
  readonly authorizer: Authorizer
}

/** The plug-in; `close` stops its watches. */
export interface PolicyAdmission extends AdmissionPlugin {
  close(): void
}

/** The plug-in ValidatingAdmissionPolicy. Policies are exempt from themselves, so that a wrong one can be repaired. */
export function createPolicyAdmission(options: PolicyAdmissionOptions): PolicyAdmission {
  const policies = new PolicyList(options.api)
  const dispatcher = new Dispatcher(options)
  return {
    name: 'ValidatingAdmissionPolicy',
    validate: (attributes) => {
      if (groupResource(attributes.resource) === POLICIES) return checkExpressions(attributes)
      const bound = policies.bound()
      return bound.length === 0 || isExempt(attributes) ? undefined : dispatcher.validate(bound, attributes)
    },
    close: () => policies.close(),
  }
}

/** Rejects a policy with expressions that can never be evaluated. */
async function checkExpressions({ operation, object, resource, subresource }: AdmissionAttributes): Promise<void> {
  const isWritten = operation === 'CREATE' || operation === 'UPDATE'
  if (!isWritten || object === undefined || (subresource ?? '') !== '') return
  const { expressionErrors } = await import('./policy-expressions.ts')
  const errors = expressionErrors(object)
  if (errors.length > 0) throw invalid(resource, stringAt(objectAt(object, 'metadata'), 'name') ?? '', errors)
}

const codes: Readonly<Record<string, number>> = {
  Invalid: 422,
  Forbidden: 403,
  Unauthorized: 401,
  RequestEntityTooLarge: 413,
}

class Dispatcher {
  readonly #options: PolicyAdmissionOptions
  #evaluator: PolicyEvaluator | undefined

  constructor(options: PolicyAdmissionOptions) {
    this.#options = options
  }

  /** The first denial rejects the request; warnings of all policies are sent. */
  async validate(bound: ReturnType<PolicyList['bound']>, attributes: AdmissionAttributes): Promise<void> {
    let rejection: StatusError | undefined
    for (const { policy, bindings } of bound) {
      const seenAs = this.#matches(policy.constraints, attributes)
      if (seenAs === undefined) continue
      for (const binding of bindings) {
        if (binding.constraints !== undefined && this.#matches(binding.constraints, attributes, true) === undefined)
          continue
        for (const denial of await this.#denials(policy, binding, seenAs, attributes)) {
          const found = act(policy, binding, denial, attributes)
          rejection ??= found
        }
      }
    }
    if (rejection !== undefined) throw rejection
  }

  /** The version in which a policy sees the request. A binding without rules concerns all of them. */
  #matches(constraints: Constraints, attributes: AdmissionAttributes, isBinding = false): ResourceInfo | undefined {
    if (!matchSelectors(constraints, attributes, (name) => this.#namespaceLabels(name))) return undefined
    const versions = this.#options.versionsOf(groupResource(attributes.resource))
    const { matchPolicy, rules, excluded } = constraints
    if (matchRules({ matchPolicy, rules: excluded }, attributes, versions) !== undefined) return undefined
    return isBinding && rules.length === 0 ? attributes.resource : matchRules(constraints, attributes, versions)
  }

  async #denials(
    policy: Policy,
    binding: Binding,
    seenAs: ResourceInfo,
    attributes: AdmissionAttributes,
  ): Promise<readonly Denial[]> {
    const params = this.#params(policy, binding, attributes.namespace)
    if (typeof params === 'string') {
      const message = `failed to configure binding: ${params}`
      return policy.failurePolicy === 'Ignore' ? [] : [{ message, reason: 'Invalid' }]
    }
    if (params.length === 0) return []
    const evaluator = await this.#loadEvaluator()
    const variables = await this.#variables(seenAs, attributes)
    const { requestAuthorizer } = await import('../request-authorizer.ts')
    const authorizer = requestAuthorizer(this.#options.authorizer, attributes)
    return params.flatMap((param) => evaluator.evaluate(policy, { ...variables, authorizer, params: param }))
  }

  async #loadEvaluator(): Promise<PolicyEvaluator> {
    if (this.#evaluator === undefined) {
      // Imported lazily: most clusters have no policies.
      const { PolicyEvaluator: Evaluator } = await import('./evaluate-policy.ts')
      this.#evaluator = new Evaluator()
    }
    return this.#evaluator
  }

  async #variables(
    seenAs: ResourceInfo,
    attributes: AdmissionAttributes,
  ): Promise<Omit<RequestVariables, 'params' | 'authorizer'>> {
    const object = await this.#inVersion(attributes.object, seenAs, attributes.signal)
    const oldObject = await this.#inVersion(attributes.oldObject, seenAs, attributes.signal)
    const review = writeReview(this.#options.randomUuid(), attributes, seenAs, object, oldObject)
    const { object: _, oldObject: __, ...request } = objectAt(review, 'request')
    const { namespace, resource } = attributes
    const isNamespace = resource.group === '' && resource.plural === 'namespaces'
    const within =
      namespace === undefined || isNamespace ? undefined : this.#options.api.get('namespaces', undefined, namespace)
    return { object: object ?? null, oldObject: oldObject ?? null, request, namespaceObject: within ?? null }
  }

  async #inVersion(
    object: JsonObject | undefined,
    to: ResourceInfo,
    signal: AbortSignal,
  ): Promise<JsonObject | undefined> {
    const wanted = to.group === '' ? to.version : `${to.group}/${to.version}`
    const isWhole = isJsonObject(object) && object.kind === to.kind
    return !isWhole || object.apiVersion === wanted ? object : this.#options.convert(object, to, signal)
  }

  /** The parameters of a binding, `null` for none; or why they cannot be read. */
  #params(policy: Policy, binding: Binding, namespace: string | undefined): readonly (JsonObject | null)[] | string {
    const { paramKind } = policy
    const { paramRef } = binding
    if (paramKind === undefined || paramRef === undefined) return [null]
    const { api } = this.#options
    const [group = ''] = paramKind.apiVersion.includes('/') ? paramKind.apiVersion.split('/') : ['']
    const served = api.resources().find((known) => known.group === group && known.kind === paramKind.kind)
    if (served === undefined) return `paramKind kind \`${paramKind.apiVersion}, Kind=${paramKind.kind}\` not known`
    const given = stringAt(paramRef, 'namespace') ?? ''
    if (!served.namespaced && given !== '')
      return 'paramRef.namespace must not be provided for a cluster-scoped `paramKind`'
    const where = served.namespaced ? given || (namespace ?? '') : undefined
    if (where === '') return 'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources'
    const found = findParams(api, served.resource, where, paramRef)
    if (found.length > 0 || paramRef.parameterNotFoundAction !== 'Deny') return found
    return 'no params found for policy binding with `Deny` parameterNotFoundAction'
  }

  #namespaceLabels(namespace: string): JsonObject | undefined {
    const found = this.#options.api.get('namespaces', undefined, namespace)
    return found === undefined ? undefined : objectAt(objectAt(found, 'metadata'), 'labels')
  }
}

function findParams(
  api: Pick<ClusterApi, 'get' | 'list'>,
  resource: string,
  namespace: string | undefined,
  paramRef: JsonObject,
): readonly JsonObject[] {
  const name = stringAt(paramRef, 'name') ?? ''
  if (name !== '') {
    const found = api.get(resource, namespace, name)
    return found === undefined ? [] : [found]
  }
  const labelSelector = formatLabelSelector(objectAt(paramRef, 'selector'))
  return api.list(resource, { ...(namespace === undefined ? {} : { namespace }), labelSelector })
}

/** Warns, and returns the rejection if the binding denies. There is no audit log for the action `Audit`. */
function act(
  policy: Policy,
  binding: Binding,
  { message, reason }: Denial,
  attributes: AdmissionAttributes,
): StatusError | undefined {
  if (binding.actions.includes('Warn')) {
    const where = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`
    attributes.warn(`Validation failed for ${where}: ${message}`)
  }
  if (!binding.actions.includes('Deny')) return undefined
  const text = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}' denied request: ${message}`
  const { message: full, details } = forbidden(attributes.resource, requestedName(attributes), text, [
    { message: text },
  ])
  return new StatusError(codes[reason] ?? 422, reason, full, details)
}
