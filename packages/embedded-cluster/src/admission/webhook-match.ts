/** Decides whether a webhook is called for a request: rules, equivalent versions, selectors. */

import type { AdmissionAttributes } from '../api/admission-plugin.ts'
import { notFound } from '../api/api-errors.ts'
import { matchLabelSelector } from '../api/label-selector.ts'
import { isJsonObject, type JsonObject } from '../json.ts'
import type { ResourceInfo } from '../registry/resource-info.ts'
import type { Webhook, WebhookRule } from './webhook-configuration.ts'

/** The parts of a webhook or policy that select requests. */
export type RequestSelection = Pick<Webhook, 'rules' | 'matchPolicy' | 'namespaceSelector' | 'objectSelector'>

/** Returns the labels of a namespace, `undefined` if there is no such namespace. */
export type NamespaceLabels = (namespace: string) => JsonObject | undefined

/**
 * The version in which the request is sent to `webhook`, `undefined` if no rule matches. `versions` are the other
 * versions in which the object is served; they are considered if the match policy is `Equivalent`.
 */
export function matchRules(
  webhook: Pick<RequestSelection, 'rules' | 'matchPolicy'>,
  attributes: AdmissionAttributes,
  versions: readonly ResourceInfo[],
): ResourceInfo | undefined {
  const candidates =
    webhook.matchPolicy === 'Exact' ? [] : versions.filter((other) => other.version !== attributes.resource.version)
  return [attributes.resource, ...candidates].find((resource) =>
    webhook.rules.some((rule) => matchesRule(rule, attributes, resource)),
  )
}

/** Whether both selectors of `webhook` match the request. Throws a 404 for a request in a missing namespace. */
export function matchSelectors(
  webhook: Pick<RequestSelection, 'namespaceSelector' | 'objectSelector'>,
  attributes: AdmissionAttributes,
  labelsOf: NamespaceLabels,
): boolean {
  return (
    matchesNamespace(webhook.namespaceSelector, attributes, labelsOf) &&
    matchesObject(webhook.objectSelector, attributes)
  )
}

/** Admission configurations are exempt: a broken webhook must never prevent its own repair. */
export function isExempt(attributes: AdmissionAttributes): boolean {
  return attributes.resource.group === 'admissionregistration.k8s.io' && exemptResources.has(attributes.resource.plural)
}

const exemptResources = new Set([
  'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
])

function matchesRule(rule: WebhookRule, attributes: AdmissionAttributes, resource: ResourceInfo): boolean {
  return (
    matchesScope(rule.scope, attributes) &&
    includes(rule.operations, attributes.operation) &&
    includes(rule.apiGroups, resource.group) &&
    includes(rule.apiVersions, resource.version) &&
    rule.resources.some((pattern) => matchesResource(pattern, resource.plural, attributes.subresource ?? '')) &&
    (rule.resourceNames === undefined || rule.resourceNames.includes(attributes.name ?? ''))
  )
}

function includes(patterns: readonly string[], value: string): boolean {
  return patterns.includes('*') || patterns.includes(value)
}

/** A pattern without a slash never matches a subresource, not even `*`. */
function matchesResource(pattern: string, plural: string, subresource: string): boolean {
  const [resource = '', sub = ''] = pattern.split('/')
  return (resource === '*' || resource === plural) && (sub === '*' || sub === subresource)
}

function matchesScope(scope: string, attributes: AdmissionAttributes): boolean {
  // Requests on a Namespace have its name as their namespace, but are cluster-scoped.
  const isNamespaced = !isNamespaceObject(attributes) && (attributes.namespace ?? '') !== ''
  if (scope === 'Namespaced') return isNamespaced
  return scope === 'Cluster' ? !isNamespaced : true
}

function isNamespaceObject(attributes: AdmissionAttributes): boolean {
  return attributes.resource.group === '' && attributes.resource.plural === 'namespaces'
}

function matchesNamespace(selector: JsonObject, attributes: AdmissionAttributes, labelsOf: NamespaceLabels): boolean {
  if (isEmpty(selector)) return true
  if (isNamespaceObject(attributes)) {
    const own = attributes.object ?? attributes.oldObject
    const isWhole = attributes.subresource === undefined || attributes.subresource === ''
    if (isWhole && own !== undefined) return matchLabelSelector(selector)(labels(own))
    return matchLabelSelector(selector)(labelsOf(attributes.name ?? '') ?? {})
  }
  const namespace = attributes.namespace ?? ''
  if (namespace === '') return true
  const found = labelsOf(namespace)
  if (found === undefined) throw notFound({ group: '', plural: 'namespaces' }, namespace)
  return matchLabelSelector(selector)(found)
}

/** Matches old or new labels: an object cannot evade a webhook by dropping the label in the same request. */
function matchesObject(selector: JsonObject, attributes: AdmissionAttributes): boolean {
  if (isEmpty(selector)) return true
  const matches = matchLabelSelector(selector)
  return [attributes.object, attributes.oldObject].some(
    (object) => object !== undefined && isJsonObject(object.metadata) && matches(labels(object)),
  )
}

function isEmpty(selector: JsonObject): boolean {
  const { matchLabels, matchExpressions } = selector
  const hasLabels = isJsonObject(matchLabels) && Object.keys(matchLabels).length > 0
  return !hasLabels && !(Array.isArray(matchExpressions) && matchExpressions.length > 0)
}

function labels(object: JsonObject): JsonObject {
  const { metadata } = object
  return isJsonObject(metadata) && isJsonObject(metadata.labels) ? metadata.labels : {}
}
