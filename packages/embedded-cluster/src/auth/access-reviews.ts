/** The review APIs of authorization.k8s.io: reviews of access that are not stored. */

import { badRequest, invalid } from '../api/api-errors.ts'
import type { UserInfo } from '../api/user.ts'
import { isJsonObject, type JsonObject, objectAt, stringAt } from '../json.ts'
import type { FieldError } from '../status-error.ts'
import type { Access, Authorizer, NonResourceRule, ResourceRule } from './authorizer.ts'
import { aggregate } from './rbac.ts'

/** The requesting user, and the namespace. */
export interface ReviewRequest {
  readonly user: UserInfo
  readonly namespace: string | undefined
}

/** Handles one kind of review. */
export type Review = (object: JsonObject, request: ReviewRequest) => JsonObject

const API_VERSION = 'authorization.k8s.io/v1'

/** The review handlers by resource. */
export function accessReviews(authorizer: Authorizer): ReadonlyMap<string, Review> {
  return new Map<string, Review>([
    ['selfsubjectaccessreviews.authorization.k8s.io', (object, request) => reviewSelf(authorizer, object, request)],
    ['subjectaccessreviews.authorization.k8s.io', (object) => reviewSubject(authorizer, object)],
    [
      'localsubjectaccessreviews.authorization.k8s.io',
      (object, request) => reviewLocalSubject(authorizer, object, request),
    ],
    ['selfsubjectrulesreviews.authorization.k8s.io', (object, request) => reviewRules(authorizer, object, request)],
  ])
}

function reviewSelf(authorizer: Authorizer, object: JsonObject, { user }: ReviewRequest): JsonObject {
  const spec = objectAt(object, 'spec')
  refuse(attributeErrors(spec))
  return answer('SelfSubjectAccessReview', object, decide(authorizer, spec, user))
}

function reviewSubject(authorizer: Authorizer, object: JsonObject): JsonObject {
  const spec = objectAt(object, 'spec')
  refuse([...attributeErrors(spec), ...subjectErrors(spec)])
  return answer('SubjectAccessReview', object, decide(authorizer, spec, readUser(spec)))
}

function reviewLocalSubject(authorizer: Authorizer, object: JsonObject, { namespace }: ReviewRequest): JsonObject {
  const spec = objectAt(object, 'spec')
  const errors = [...attributeErrors(spec), ...subjectErrors(spec)]
  const { nonResourceAttributes } = spec
  if (isJsonObject(nonResourceAttributes)) {
    errors.push(
      wrong('spec.nonResourceAttributes', showPath(nonResourceAttributes), 'disallowed on this kind of request'),
    )
  }
  const asked = stringAt(objectAt(spec, 'resourceAttributes'), 'namespace') ?? ''
  if (asked !== (namespace ?? '')) {
    errors.push(wrong('spec.resourceAttributes.namespace', asked, 'must match metadata.namespace'))
  }
  refuse(errors)
  const reviewed = { ...object, metadata: { ...objectAt(object, 'metadata'), namespace } }
  return answer('LocalSubjectAccessReview', reviewed, decide(authorizer, spec, readUser(spec)))
}

function reviewRules(authorizer: Authorizer, object: JsonObject, { user }: ReviewRequest): JsonObject {
  const namespace = stringAt(objectAt(object, 'spec'), 'namespace') ?? ''
  if (namespace === '') throw badRequest('no namespace on request')
  const { resourceRules, nonResourceRules, errors } = authorizer.rulesFor(user, namespace)
  return {
    kind: 'SelfSubjectRulesReview',
    apiVersion: API_VERSION,
    metadata: {},
    spec: {},
    status: {
      resourceRules: resourceRules.map(showResourceRule),
      nonResourceRules: nonResourceRules.map(showNonResourceRule),
      incomplete: false,
      ...(errors.length === 0 ? {} : { evaluationError: aggregate(errors) }),
    },
  }
}

function decide(authorizer: Authorizer, spec: JsonObject, user: UserInfo): JsonObject {
  const { allowed, reason } = authorizer.authorize(readAccess(spec, user))
  return { allowed, ...(reason === '' ? {} : { reason }) }
}

function readAccess(spec: JsonObject, user: UserInfo): Access {
  const { nonResourceAttributes } = spec
  if (isJsonObject(nonResourceAttributes)) {
    const verb = stringAt(nonResourceAttributes, 'verb') ?? ''
    return { user, verb, path: stringAt(nonResourceAttributes, 'path') ?? '' }
  }
  const resource = objectAt(spec, 'resourceAttributes')
  return {
    user,
    verb: stringAt(resource, 'verb') ?? '',
    group: stringAt(resource, 'group') ?? '',
    resource: stringAt(resource, 'resource') ?? '',
    subresource: stringAt(resource, 'subresource'),
    namespace: stringAt(resource, 'namespace'),
    name: stringAt(resource, 'name'),
  }
}

function readUser(spec: JsonObject): UserInfo {
  const groups = Array.isArray(spec.groups) ? spec.groups.map(String) : []
  return { username: stringAt(spec, 'user') ?? '', groups }
}

function attributeErrors(spec: JsonObject): FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = spec
  const hasResource = isJsonObject(resourceAttributes)
  if (hasResource && isJsonObject(nonResourceAttributes)) {
    const why = 'cannot be specified in combination with resourceAttributes'
    return [wrong('spec.nonResourceAttributes', showPath(nonResourceAttributes), why)]
  }
  if (hasResource || isJsonObject(nonResourceAttributes)) return []
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
  return [wrong('spec.resourceAttributes', null, why)]
}

function subjectErrors(spec: JsonObject): FieldError[] {
  const { username, groups } = readUser(spec)
  if (username !== '' || groups.length > 0) return []
  return [wrong('spec.user', '', 'at least one of user or group must be specified')]
}

function wrong(field: string, value: JsonObject | string | null, why: string): FieldError {
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value)}: ${why}` }
}

/** The API reports neither kind nor name here. */
function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: 'authorization.k8s.io', kind: '' }, '', errors)
}

function showPath(attributes: JsonObject): JsonObject {
  return { Path: stringAt(attributes, 'path') ?? '', Verb: stringAt(attributes, 'verb') ?? '' }
}

function answer(kind: string, object: JsonObject, status: JsonObject): JsonObject {
  return { ...object, kind, apiVersion: API_VERSION, metadata: objectAt(object, 'metadata'), status }
}

function showResourceRule(rule: ResourceRule): JsonObject {
  return {
    verbs: [...rule.verbs],
    ...(rule.apiGroups.length === 0 ? {} : { apiGroups: [...rule.apiGroups] }),
    ...(rule.resources.length === 0 ? {} : { resources: [...rule.resources] }),
    ...(rule.resourceNames.length === 0 ? {} : { resourceNames: [...rule.resourceNames] }),
  }
}

function showNonResourceRule(rule: NonResourceRule): JsonObject {
  return { verbs: [...rule.verbs], nonResourceURLs: [...rule.nonResourceURLs] }
}
