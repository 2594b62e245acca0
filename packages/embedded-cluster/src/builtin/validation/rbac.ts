/** Roles and role bindings. */
import { arrayAt, isJsonObject, type JsonObject, jsonEqual, objectAt } from '../../json.ts'
import type { FieldError } from '../../status-error.ts'
import { nameProblems } from './formats.ts'
import { validateSelector } from './label-selectors.ts'
import { entriesOf, Problems, textAt, textsAt } from './problems.ts'

const rbacGroup = 'rbac.authorization.k8s.io'

/** Validates a Role or ClusterRole. */
export function validateRole(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const isNamespaced = object.kind === 'Role'
  for (const [rule, at] of entriesOf(object, 'rules', 'rules')) validateRule(problems, rule, at, isNamespaced)
  if (isJsonObject(object.aggregationRule)) {
    const selectors = [
      ...entriesOf(object.aggregationRule, 'clusterRoleSelectors', 'aggregationRule.clusterRoleSelectors'),
    ]
    if (selectors.length === 0) {
      const why = 'at least one clusterRoleSelector required if aggregationRule is non-nil'
      problems.required('aggregationRule.clusterRoleSelectors', why)
    }
    for (const [selector, at] of selectors) validateSelector(problems, selector, at)
  }
  return problems.errors
}

function validateRule(problems: Problems, rule: JsonObject, path: string, isNamespaced: boolean): void {
  if (arrayAt(rule, 'verbs').length === 0) problems.required(`${path}.verbs`, 'verbs must contain at least one value')
  const urls = textsAt(rule, 'nonResourceURLs')
  if (urls.length > 0) {
    if (isNamespaced) {
      problems.invalid(`${path}.nonResourceURLs`, urls, 'namespaced rules cannot apply to non-resource URLs')
    }
    const others = ['apiGroups', 'resources', 'resourceNames'].some((field) => arrayAt(rule, field).length > 0)
    if (others) {
      const why = 'rules cannot apply to both regular resources and non-resource URLs'
      problems.invalid(`${path}.nonResourceURLs`, urls, why)
    }
    return
  }
  if (arrayAt(rule, 'apiGroups').length === 0) {
    problems.required(`${path}.apiGroups`, 'resource rules must supply at least one api group')
  }
  if (arrayAt(rule, 'resources').length === 0) {
    problems.required(`${path}.resources`, 'resource rules must supply at least one resource')
  }
}

/** Validates a RoleBinding or ClusterRoleBinding. */
export function validateRoleBinding(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const problems = new Problems()
  const roleRef = objectAt(object, 'roleRef')
  const isNamespaced = object.kind === 'RoleBinding'
  problems.oneOf('roleRef.apiGroup', roleRef.apiGroup, [rbacGroup])
  problems.oneOf('roleRef.kind', roleRef.kind, isNamespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'])
  const name = textAt(roleRef, 'name')
  if (name === '') problems.required('roleRef.name')
  else problems.invalidAll('roleRef.name', name, nameProblems(name, 'path-segment'))
  for (const [subject, at] of entriesOf(object, 'subjects', 'subjects')) {
    validateSubject(problems, subject, at, isNamespaced)
  }
  if (old !== undefined && !jsonEqual(roleRef, old.roleRef)) {
    const shown = { APIGroup: roleRef.apiGroup, Kind: roleRef.kind, Name: roleRef.name }
    problems.invalidStruct('roleRef', shown, 'cannot change roleRef')
  }
  return problems.errors
}

function validateSubject(problems: Problems, subject: JsonObject, path: string, isNamespaced: boolean): void {
  const name = textAt(subject, 'name')
  const group = textAt(subject, 'apiGroup')
  if (name === '') problems.required(`${path}.name`)
  switch (subject.kind) {
    case 'ServiceAccount':
      if (name !== '') problems.invalidAll(`${path}.name`, name, nameProblems(name))
      if (group !== '') problems.notSupported(`${path}.apiGroup`, group, [''])
      if (!isNamespaced && textAt(subject, 'namespace') === '') problems.required(`${path}.namespace`)
      return
    case 'User':
    case 'Group':
      if (group !== rbacGroup) problems.notSupported(`${path}.apiGroup`, group, [rbacGroup])
      return
    default:
      problems.notSupported(`${path}.kind`, subject.kind, ['ServiceAccount', 'User', 'Group'])
  }
}
