/** Decides whether a webhook wants to see a request: rules, equivalent versions, selectors. */
import { isJsonObject, type JsonObject } from '../json.ts'
import type { ResourceInfo } from '../registry/resource-info.ts'
import { notFound } from '../rest/api-errors.ts'
import { matchLabelSelector } from '../rest/label-selector.ts'
import type { AdmissionAttributes } from './admission.ts'
import type { Webhook, WebhookRule } from './webhook-configuration.ts'

/** Finds the labels of a namespace, `undefined` when there is no such namespace. */
export type NamespaceLabels = (namespace: string) => JsonObject | undefined

/**
 * The version in which `webhook` wants to see the request, `undefined` when it does not want it at all. `versions`
 * are those in which the same object is served too; they count when the webhook accepts equivalents.
 */
export function matchRules(
  webhook: Webhook,
  attributes: AdmissionAttributes,
  versions: readonly ResourceInfo[],
): ResourceInfo | undefined {
  const candidates =
    webhook.matchPolicy === 'Exact' ? [] : versions.filter((other) => other.version !== attributes.resource.version)
  return [attributes.resource, ...candidates].find((resource) =>
    webhook.rules.some((rule) => matchesRule(rule, attributes, resource)),
  )
}

/** Whether both selectors of `webhook` accept the request. Throws a 404 for a request in a missing namespace. */
export function matchSelectors(webhook: Webhook, attributes: AdmissionAttributes, labelsOf: NamespaceLabels): boolean {
  return (
    matchesNamespace(webhook.namespaceSelector, attributes, labelsOf) &&
    matchesObject(webhook.objectSelector, attributes)
  )
}

/** Configurations of admission itself: a broken webhook must never keep people from repairing it. */
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
    rule.resources.some((pattern) => matchesResource(pattern, resource.plural, attributes.subresource ?? ''))
  )
}

function includes(patterns: readonly string[], value: string): boolean {
  return patterns.includes('*') || patterns.includes(value)
}

/** A pattern without a slash never means a subresource, not even `*`. */
function matchesResource(pattern: string, plural: string, subresource: string): boolean {
  const [resource = '', sub = ''] = pattern.split('/')
  return (resource === '*' || resource === plural) && (sub === '*' || sub === subresource)
}

function matchesScope(scope: string, attributes: AdmissionAttributes): boolean {
  // Requests on a namespace carry its name as their namespace, and are of the cluster scope nevertheless.
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

/** Old or new: an object cannot escape a webhook by dropping the label in the same request. */
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
