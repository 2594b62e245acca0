/** Workloads that keep running. */
import { arrayAt, isJsonObject, type JsonObject, type JsonValue, jsonEqual, objectAt } from '../../json.ts'
import type { FieldError } from '../../status-error.ts'
import { validateClaimSpec } from './claims.ts'
import { atMostAll, countOrPercent, IMMUTABLE, isNone, nameProblems, notNegative } from './formats.ts'
import { isEmptySelector, matchesSelector, validateSelector } from './label-selectors.ts'
import { validateAlwaysRestarts, validatePodTemplate } from './pod-spec.ts'
import { entriesOf, Problems, textAt } from './problems.ts'

const noMatch = '`selector` does not match template `labels`'

interface SelectorRules {
  /** The kind in messages. */
  readonly kind: string
  readonly isRequired: boolean
  /** The summary for an invalid selector; none when undefined. */
  readonly summary: string | undefined
}

/** Validates the selector and the template that it has to match. */
function validateTemplate(problems: Problems, spec: JsonObject, template: JsonObject, rules: SelectorRules): void {
  const { selector } = spec
  const found = new Problems()
  if (isJsonObject(selector)) {
    validateSelector(found, selector, 'spec.selector')
    if (isEmptySelector(selector)) {
      problems.invalid('spec.selector', {}, `empty selector is invalid for ${rules.kind}`)
    }
  } else if (rules.isRequired) problems.required('spec.selector')
  problems.add(found.errors)
  if (found.errors.length > 0) {
    if (rules.summary === undefined) return
    problems.invalidStruct('spec.selector', inOrder(selector), rules.summary)
    if (rules.summary !== '') return
  }
  const { labels } = objectAt(template, 'metadata')
  const isMatching = isJsonObject(selector) && matchesSelector(selector, isJsonObject(labels) ? labels : {})
  if (!isMatching) problems.invalid('spec.template.metadata.labels', labels ?? null, noMatch)
  validatePodTemplate(problems, template, 'spec.template')
}

/** A selector with its fields in the order in which the server prints them. */
function inOrder(selector: JsonValue | undefined): JsonObject {
  const { matchLabels, matchExpressions } = isJsonObject(selector) ? selector : {}
  return {
    ...(matchLabels === undefined ? {} : { matchLabels }),
    ...(matchExpressions === undefined ? {} : { matchExpressions }),
  }
}

/** The selector of a workload is immutable: otherwise existing pods would be orphaned. */
function validateSameSelector(problems: Problems, spec: JsonObject, old: JsonObject | undefined): void {
  if (old === undefined || jsonEqual(spec.selector, objectAt(old, 'spec').selector)) return
  problems.invalidStruct('spec.selector', inOrder(spec.selector), IMMUTABLE)
}

/** Validates a Deployment. */
export function validateDeployment(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  const template = objectAt(spec, 'template')
  for (const field of ['replicas', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds']) {
    notNegative(problems, `spec.${field}`, spec[field])
  }
  const deadline = spec.progressDeadlineSeconds
  if (typeof deadline === 'number' && deadline <= Number(spec.minReadySeconds ?? 0)) {
    problems.invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')
  }
  validateTemplate(problems, spec, template, {
    kind: 'deployment',
    isRequired: true,
    summary: 'invalid label selector',
  })
  validateAlwaysRestarts(problems, template, 'spec.template', 'ReplicaSet')
  validateDeploymentStrategy(problems, objectAt(spec, 'strategy'))
  validateSameSelector(problems, spec, old)
  return problems.errors
}

function validateDeploymentStrategy(problems: Problems, strategy: JsonObject): void {
  const path = 'spec.strategy.rollingUpdate'
  const { rollingUpdate } = strategy
  if (strategy.type === 'Recreate') {
    if (rollingUpdate !== undefined) problems.forbidden(path, "may not be specified when strategy `type` is 'Recreate'")
  } else if (strategy.type !== 'RollingUpdate') {
    problems.errors.push(unsupportedStrategy('spec.strategy', strategy, ['Recreate', 'RollingUpdate']))
  } else if (isJsonObject(rollingUpdate)) {
    const { maxUnavailable, maxSurge } = rollingUpdate
    countOrPercent(problems, `${path}.maxUnavailable`, maxUnavailable)
    countOrPercent(problems, `${path}.maxSurge`, maxSurge)
    if (isNone(maxUnavailable) && isNone(maxSurge)) {
      problems.invalid(`${path}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0')
    }
    atMostAll(problems, `${path}.maxUnavailable`, maxUnavailable)
  }
}

/** The messages print the whole strategy, in the format of Go. */
function unsupportedStrategy(field: string, strategy: JsonObject, supported: readonly string[]): FieldError {
  const shown = JSON.stringify({ Type: strategy.type, RollingUpdate: strategy.rollingUpdate ?? null })
  const list = supported.map((choice) => JSON.stringify(choice)).join(', ')
  const message = `Unsupported value: ${shown}: supported values: ${list}`
  return { field, reason: 'FieldValueNotSupported', message }
}

/** Validates a ReplicaSet. */
export function validateReplicaSet(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  const template = objectAt(spec, 'template')
  for (const field of ['replicas', 'minReadySeconds']) notNegative(problems, `spec.${field}`, spec[field])
  validateTemplate(problems, spec, template, {
    kind: 'deployment',
    isRequired: true,
    summary: 'invalid label selector',
  })
  validateAlwaysRestarts(problems, template, 'spec.template', 'ReplicaSet')
  validateSameSelector(problems, spec, old)
  return problems.errors
}

/** Validates a ReplicationController. */
export function validateReplicationController(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  for (const field of ['replicas', 'minReadySeconds']) notNegative(problems, `spec.${field}`, spec[field])
  const selector = objectAt(spec, 'selector')
  if (Object.keys(selector).length === 0) problems.required('spec.selector')
  if (!isJsonObject(spec.template)) {
    problems.required('spec.template')
    return problems.errors
  }
  const labels = objectAt(spec.template, 'metadata').labels
  const isMatching = Object.entries(selector).every(([key, value]) => isJsonObject(labels) && labels[key] === value)
  if (!isMatching) problems.invalid('spec.template.metadata.labels', labels ?? null, noMatch)
  validatePodTemplate(problems, spec.template, 'spec.template')
  validateAlwaysRestarts(problems, spec.template, 'spec.template', 'ReplicationController')
  return problems.errors
}

/** Validates a DaemonSet. */
export function validateDaemonSet(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  const template = objectAt(spec, 'template')
  validateTemplate(problems, spec, template, { kind: 'daemonset', isRequired: false, summary: undefined })
  validateAlwaysRestarts(problems, template, 'spec.template', 'DaemonSet')
  for (const field of ['minReadySeconds', 'revisionHistoryLimit']) notNegative(problems, `spec.${field}`, spec[field])
  const strategy = objectAt(spec, 'updateStrategy')
  if (strategy.type === 'RollingUpdate') validateDaemonUpdate(problems, objectAt(strategy, 'rollingUpdate'))
  else if (strategy.type !== 'OnDelete') {
    problems.errors.push(unsupportedStrategy('spec.updateStrategy', strategy, ['RollingUpdate', 'OnDelete']))
  }
  validateSameSelector(problems, spec, old)
  return problems.errors
}

function validateDaemonUpdate(problems: Problems, { maxUnavailable, maxSurge }: JsonObject): void {
  const path = 'spec.updateStrategy.rollingUpdate'
  for (const [field, value] of [
    ['maxUnavailable', maxUnavailable],
    ['maxSurge', maxSurge],
  ] as const) {
    countOrPercent(problems, `${path}.${field}`, value)
    atMostAll(problems, `${path}.${field}`, value)
  }
  if (!isNone(maxUnavailable) && !isNone(maxSurge)) {
    problems.invalid(`${path}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero')
  } else if (isNone(maxUnavailable) && isNone(maxSurge)) {
    problems.required(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0')
  }
}

const statefulSetUpdatable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]

/** Validates a StatefulSet. */
export function validateStatefulSet(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  const policy = spec.podManagementPolicy
  if (policy !== 'OrderedReady' && policy !== 'Parallel') {
    problems.invalid('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'")
  }
  validateStatefulUpdate(problems, objectAt(spec, 'updateStrategy'))
  const retention = objectAt(spec, 'persistentVolumeClaimRetentionPolicy')
  for (const field of ['whenDeleted', 'whenScaled']) {
    problems.oneOf(`spec.persistentVolumeClaimRetentionPolicy.${field}`, retention[field], ['Retain', 'Delete'])
  }
  for (const [claim, at] of entriesOf(spec, 'volumeClaimTemplates', 'spec.volumeClaimTemplates')) {
    validateClaimTemplate(problems, claim, at)
  }
  for (const field of ['replicas', 'minReadySeconds']) notNegative(problems, `spec.${field}`, spec[field])
  notNegative(problems, 'spec.ordinals.start', objectAt(spec, 'ordinals').start)
  const service = textAt(spec, 'serviceName')
  if (service !== '') problems.invalidAll('spec.serviceName', service, nameProblems(service, 'label'))
  const template = withClaimVolumes(spec, objectAt(spec, 'template'))
  validateTemplate(problems, spec, template, { kind: 'statefulset', isRequired: true, summary: '' })
  validateAlwaysRestarts(problems, template, 'spec.template', 'StatefulSet')
  if (old !== undefined) validateStatefulSetUpdate(problems, spec, objectAt(old, 'spec'))
  return problems.errors
}

function validateClaimTemplate(problems: Problems, claim: JsonObject, path: string): void {
  const name = textAt(objectAt(claim, 'metadata'), 'name')
  if (name === '') problems.required(`${path}.metadata.name`)
  if (arrayAt(objectAt(claim, 'spec'), 'accessModes').length > 0) {
    validateClaimSpec(problems, objectAt(claim, 'spec'), `${path}.spec`)
  }
}

function validateStatefulUpdate(problems: Problems, strategy: JsonObject): void {
  const path = 'spec.updateStrategy'
  const { type, rollingUpdate } = strategy
  const update = isJsonObject(rollingUpdate) ? rollingUpdate : undefined
  const shown =
    update === undefined ? null : { Partition: update.partition ?? null, MaxUnavailable: update.maxUnavailable ?? null }
  if (type === 'OnDelete') {
    if (shown === null) return
    problems.invalidStruct(`${path}.rollingUpdate`, shown, "only allowed for updateStrategy 'RollingUpdate'")
  } else if (type === 'RollingUpdate') {
    notNegative(problems, `${path}.rollingUpdate.partition`, update?.partition)
    countOrPercent(problems, `${path}.rollingUpdate.maxUnavailable`, update?.maxUnavailable)
    atMostAll(problems, `${path}.rollingUpdate.maxUnavailable`, update?.maxUnavailable)
  } else problems.invalidStruct(path, { Type: type, RollingUpdate: shown }, "must be 'RollingUpdate' or 'OnDelete'")
}

/** The template with the volumes of the claims, and without `hostname` and `subdomain`, which differ per pod. */
function withClaimVolumes(spec: JsonObject, template: JsonObject): JsonObject {
  const claims = [...entriesOf(spec, 'volumeClaimTemplates', '')].map(([claim]) =>
    textAt(objectAt(claim, 'metadata'), 'name'),
  )
  const podSpec = objectAt(template, 'spec')
  const own = arrayAt(podSpec, 'volumes').filter(
    (volume) => isJsonObject(volume) && !claims.includes(textAt(volume, 'name')),
  )
  const added = claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }))
  return { ...template, spec: { ...podSpec, volumes: [...added, ...own], hostname: undefined, subdomain: undefined } }
}

function validateStatefulSetUpdate(problems: Problems, spec: JsonObject, before: JsonObject): void {
  const fixed = (of: JsonObject) =>
    Object.fromEntries(Object.entries(of).filter(([field]) => !statefulSetUpdatable.includes(field)))
  if (jsonEqual(fixed(spec), fixed(before))) return
  const names = statefulSetUpdatable.map((field) => `'${field}'`)
  const list = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
  problems.forbidden('spec', `updates to statefulset spec for fields other than ${list} are forbidden`)
}
