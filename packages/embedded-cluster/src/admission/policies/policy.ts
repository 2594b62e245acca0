/** Reads ValidatingAdmissionPolicies and their bindings, and keeps the list up to date. */
import type { ClusterApi } from '../../api/cluster-api.ts'
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../../json.ts'
import { readRule, type WebhookRule } from '../webhook-configuration.ts'
import type { RequestSelection } from '../webhook-match.ts'

export const POLICIES = 'validatingadmissionpolicies.admissionregistration.k8s.io'
const BINDINGS = 'validatingadmissionpolicybindings.admissionregistration.k8s.io'

/** Which requests a policy or binding concerns. */
export interface Constraints extends RequestSelection {
  readonly excluded: readonly WebhookRule[]
}

/** One expression with its name or place. */
export interface NamedExpression {
  readonly name: string
  readonly expression: string
}

/** One rule of a policy. */
export interface Validation {
  readonly expression: string
  readonly message: string
  readonly messageExpression: string
  readonly reason: string
}

/** A policy, with defaults. */
export interface Policy {
  readonly name: string
  readonly constraints: Constraints
  readonly failurePolicy: 'Fail' | 'Ignore'
  readonly matchConditions: readonly NamedExpression[]
  readonly variables: readonly NamedExpression[]
  readonly validations: readonly Validation[]
  /** There is no audit log, but an expression that fails is an error of the policy. */
  readonly auditAnnotations: readonly NamedExpression[]
  readonly paramKind: { readonly apiVersion: string; readonly kind: string } | undefined
}

/** What puts a policy into effect. */
export interface Binding {
  readonly name: string
  readonly policyName: string
  readonly actions: readonly string[]
  /** Absent if it concerns everything that the policy does. */
  readonly constraints: Constraints | undefined
  readonly paramRef: JsonObject | undefined
}

/** A policy with its bindings; a policy without any has no effect. */
export interface BoundPolicy {
  readonly policy: Policy
  readonly bindings: readonly Binding[]
}

/** The policies in effect, by name. They are read again only after one of them, or a binding, changed. */
export class PolicyList {
  readonly #api: Pick<ClusterApi, 'list' | 'subscribe'>
  readonly #unsubscribe: () => void
  #known: readonly BoundPolicy[] | undefined

  constructor(api: Pick<ClusterApi, 'list' | 'subscribe'>) {
    this.#api = api
    this.#unsubscribe = api.subscribe(({ resource }) => {
      if (resource === POLICIES || resource === BINDINGS) this.#known = undefined
    })
  }

  bound(): readonly BoundPolicy[] {
    this.#known ??= this.#read()
    return this.#known
  }

  /** Stops watching for changes. */
  close(): void {
    this.#unsubscribe()
  }

  #read(): readonly BoundPolicy[] {
    const bindings = this.#api.list(BINDINGS).map(readBinding)
    return this.#api
      .list(POLICIES)
      .map(readPolicy)
      .map((policy) => ({ policy, bindings: bindings.filter(({ policyName }) => policyName === policy.name) }))
      .filter(({ bindings: own }) => own.length > 0)
  }
}

/** Reads a policy, which the server has validated. */
export function readPolicy(object: JsonObject): Policy {
  const spec = objectAt(object, 'spec')
  const paramKind = isJsonObject(spec.paramKind) ? spec.paramKind : undefined
  return {
    name: nameOf(object),
    constraints: readConstraints(objectAt(spec, 'matchConstraints')),
    failurePolicy: spec.failurePolicy === 'Ignore' ? 'Ignore' : 'Fail',
    matchConditions: expressionsAt(spec, 'matchConditions'),
    variables: expressionsAt(spec, 'variables'),
    validations: objectsAt(spec, 'validations').map((validation) => ({
      expression: stringAt(validation, 'expression') ?? '',
      message: stringAt(validation, 'message') ?? '',
      messageExpression: stringAt(validation, 'messageExpression') ?? '',
      reason: stringAt(validation, 'reason') ?? 'Invalid',
    })),
    auditAnnotations: objectsAt(spec, 'auditAnnotations').map((annotation) => ({
      name: stringAt(annotation, 'key') ?? '',
      expression: stringAt(annotation, 'valueExpression') ?? '',
    })),
    paramKind:
      paramKind === undefined
        ? undefined
        : { apiVersion: stringAt(paramKind, 'apiVersion') ?? '', kind: stringAt(paramKind, 'kind') ?? '' },
  }
}

function readBinding(object: JsonObject): Binding {
  const spec = objectAt(object, 'spec')
  return {
    name: nameOf(object),
    policyName: stringAt(spec, 'policyName') ?? '',
    actions: arrayAt(spec, 'validationActions').map(String),
    constraints: isJsonObject(spec.matchResources) ? readConstraints(spec.matchResources) : undefined,
    paramRef: isJsonObject(spec.paramRef) ? spec.paramRef : undefined,
  }
}

function readConstraints(constraints: JsonObject): Constraints {
  return {
    rules: objectsAt(constraints, 'resourceRules').map(readRule),
    excluded: objectsAt(constraints, 'excludeResourceRules').map(readRule),
    matchPolicy: constraints.matchPolicy === 'Exact' ? 'Exact' : 'Equivalent',
    namespaceSelector: objectAt(constraints, 'namespaceSelector'),
    objectSelector: objectAt(constraints, 'objectSelector'),
  }
}

function expressionsAt(spec: JsonObject, field: string): readonly NamedExpression[] {
  return objectsAt(spec, field).map((entry) => ({
    name: stringAt(entry, 'name') ?? '',
    expression: stringAt(entry, 'expression') ?? '',
  }))
}

function objectsAt(parent: JsonObject, field: string): readonly JsonObject[] {
  return arrayAt(parent, field).filter((entry) => isJsonObject(entry))
}

function nameOf(object: JsonObject): string {
  return stringAt(objectAt(object, 'metadata'), 'name') ?? ''
}
