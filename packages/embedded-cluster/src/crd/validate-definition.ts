/** Validates a CustomResourceDefinition before it is stored. */

import { nameProblems } from '../api/object-meta.ts'
import { arrayAt, isJsonObject, type JsonObject, type JsonValue, jsonEqual, objectAt, stringAt } from '../json.ts'
import { invalid, notSupported, required } from '../schema/field-error.ts'
import type { FieldError } from '../status-error.ts'
import { type Definition, type DefinitionVersion, readDefinition, stringsAt } from './definition.ts'
import type { RuleEngine } from './rules.ts'
import { validateConversion } from './validate-conversion.ts'
import { type VersionPaths, validateVersion } from './validate-version.ts'

/** Errors of `crd`; `old` is the stored definition on update. */
export function validateDefinition(crd: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const definition = readDefinition(crd)
  if (old !== undefined) {
    // With a different group or plural no other error is meaningful, so only this one is reported.
    const immutable = validateImmutable(definition, old)
    if (immutable.length > 0) return immutable
  }
  return [
    ...validateName(definition),
    ...validateGroup(definition, crd),
    ...validateScope(definition),
    ...validateVersions(definition, crd),
    ...validateNames(definition),
    ...validateConversion(definition.conversion, 'spec.conversion'),
    ...validateStoredVersions(definition, crd),
  ]
}

/** Whether a group belongs to the Kubernetes project, whose APIs need an approval. */
export function isProtectedGroup(group: string): boolean {
  return /(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)
}

/** The annotation for the approval of a protected group. */
export const APPROVAL_ANNOTATION = 'api-approved.kubernetes.io'

const approvalHelp = 'see https://github.com/kubernetes/enhancements/pull/1111'

function validateName({ name, names, group }: Definition): FieldError[] {
  if (name === `${names.plural}.${group}`) return []
  return [invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group')]
}

function validateGroup({ group }: Definition, crd: JsonObject): FieldError[] {
  if (group === '') return [required('spec.group')]
  const problems = nameProblems(group).map((why) => invalid('spec.group', group, why))
  if (problems.length > 0) return problems
  if (!group.includes('.')) return [invalid('spec.group', group, 'should be a domain with at least one dot')]
  return isProtectedGroup(group) ? validateApproval(crd) : []
}

function validateApproval(crd: JsonObject): FieldError[] {
  const field = `metadata.annotations[${APPROVAL_ANNOTATION}]`
  const approval = stringAt(objectAt(objectAt(crd, 'metadata'), 'annotations'), APPROVAL_ANNOTATION) ?? ''
  const rule = `protected groups must have approval annotation "${APPROVAL_ANNOTATION}"`
  if (approval === '') return [required(field, `${rule}, ${approvalHelp}`)]
  if (approval.startsWith('unapproved') || URL.canParse(approval)) return []
  return [invalid(field, approval, `${rule} with either a URL or a reason starting with "unapproved", ${approvalHelp}`)]
}

function validateScope({ scope }: Definition): FieldError[] {
  if (scope === '') return [required('spec.scope')]
  if (scope === 'Namespaced' || scope === 'Cluster') return []
  return [notSupported('spec.scope', scope, ['Cluster', 'Namespaced'])]
}

function validateVersions(definition: Definition, crd: JsonObject): FieldError[] {
  const { versions } = definition
  const errors: FieldError[] = []
  const raw = objectAt(crd, 'spec').preserveUnknownFields
  if (raw === true) {
    const why =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
    errors.push(invalid('spec.preserveUnknownFields', true, why))
  }
  const paths = versionPaths(versions)
  for (const [index, version] of versions.entries()) {
    const field = `spec.versions[${index}].name`
    for (const why of nameProblems(version.name, 'service')) errors.push(invalid(field, version.name, why))
    if (version.schema === undefined) errors.push(required(`spec.versions[${index}].schema.openAPIV3Schema`))
    errors.push(...validateVersion(version, `spec.versions[${index}]`, paths(index)))
  }
  const [first] = versions
  if (first !== undefined) {
    for (const why of nameProblems(first.name, 'service')) errors.push(invalid('spec.version', first.name, why))
  }
  if (new Set(versions.map((version) => version.name)).size < versions.length) {
    errors.push(versionsProblem(definition, crd, 'must contain unique version names'))
  }
  if (versions.filter((version) => version.storage).length !== 1) {
    errors.push(versionsProblem(definition, crd, 'must have exactly one version marked as storage version'))
  }
  return errors
}

/** Errors of the rules in all schemas of an otherwise valid definition. */
export function validateRules(definition: Definition, engine: RuleEngine): readonly FieldError[] {
  const paths = versionPaths(definition.versions)
  return definition.versions.flatMap(({ schema }, index) => {
    const path = paths(index).schema
    return schema === undefined || path === undefined ? [] : engine.check(schema, path)
  })
}

/**
 * The field paths for errors of a version. The API stores what all versions have in common once, above the versions,
 * and reports errors there.
 */
function versionPaths(versions: readonly DefinitionVersion[]): (index: number) => VersionPaths {
  const [first] = versions
  const isShared = (pick: (version: DefinitionVersion) => JsonValue | undefined) =>
    first !== undefined && versions.every((version) => jsonEqual(pick(version), pick(first)))
  const schema = isShared((version) => version.schema)
  const subresources = isShared((version) => version.subresources)
  const columns = isShared((version) => [...version.printerColumns])
  const selectable = isShared((version) => [...version.selectableFields])
  return (index) => {
    const own = `spec.versions[${index}]`
    const isFirst = index === 0
    return {
      // Shared errors are reported once, for the first version.
      schema: schema ? (isFirst ? 'spec.validation.openAPIV3Schema' : undefined) : `${own}.schema.openAPIV3Schema`,
      subresources: subresources ? (isFirst ? 'spec.subresources' : undefined) : `${own}.subresources`,
      columns: columns ? (isFirst ? 'spec.additionalPrinterColumns' : undefined) : `${own}.additionalPrinterColumns`,
      selectable: selectable ? (isFirst ? 'spec.selectableFields' : undefined) : `${own}.selectableFields`,
    }
  }
}

/** The API shows the versions in its internal form, without what they have in common; this message does the same. */
function versionsProblem(definition: Definition, crd: JsonObject, why: string): FieldError {
  const shown = definition.versions.map((version) => ({
    Name: version.name,
    Served: version.served,
    Storage: version.storage,
    Deprecated: version.deprecated,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  }))
  const isAbsent = objectAt(crd, 'spec').versions === undefined
  // In the order of the API's struct fields, not sorted by name like other values.
  const message = `Invalid value: ${JSON.stringify(isAbsent ? null : shown)}: ${why}`
  return { field: 'spec.versions', reason: 'FieldValueInvalid', message }
}

function validateNames({ names }: Definition): FieldError[] {
  const errors: FieldError[] = []
  const check = (field: string, value: string, isKind: boolean) => {
    const path = `spec.names.${field}`
    if (value === '') return errors.push(required(path))
    for (const why of nameProblems(isKind ? value.toLowerCase() : value, 'service')) {
      const text = isKind ? `may have mixed case, but should otherwise match: ${why}` : why
      errors.push(invalid(path, value, text))
    }
    return undefined
  }
  check('plural', names.plural, false)
  check('singular', names.singular, false)
  check('kind', names.kind, true)
  check('listKind', names.listKind, true)
  for (const [index, name] of names.shortNames.entries()) check(`shortNames[${index}]`, name, false)
  if (names.kind !== '' && names.kind === names.listKind) {
    errors.push(invalid('spec.names.listKind', names.listKind, 'kind and listKind may not be the same'))
  }
  for (const [index, name] of names.categories.entries()) check(`categories[${index}]`, name, false)
  return errors
}

function validateStoredVersions({ versions }: Definition, crd: JsonObject): FieldError[] {
  const errors: FieldError[] = []
  const stored = stringsAt(objectAt(crd, 'status'), 'storedVersions')
  const known = versions.map((version) => version.name)
  const field = 'status.storedVersions'
  if (stored.length === 0) return [invalid(field, null, 'must have at least one stored version')]
  for (const [index, version] of stored.entries()) {
    if (known.includes(version)) continue
    const why = `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`
    errors.push(invalid(`${field}[${index}]`, version, why))
  }
  for (const version of versions) {
    if (!version.storage || stored.includes(version.name)) continue
    errors.push(invalid(field, [...stored], `must have the storage version ${version.name}`))
  }
  return errors
}

/** Group and plural are immutable; scope and kind are immutable once the resource is established. */
function validateImmutable(definition: Definition, old: JsonObject): FieldError[] {
  const before = readDefinition(old)
  const fixed: [string, string, string][] = [
    ['spec.group', definition.group, before.group],
    ['spec.names.plural', definition.names.plural, before.names.plural],
  ]
  if (isEstablished(old)) {
    fixed.push(['spec.scope', definition.scope, before.scope])
    fixed.push(['spec.names.kind', definition.names.kind, before.names.kind])
  }
  return fixed.filter(([, now, then]) => now !== then).map(([field, now]) => invalid(field, now, 'field is immutable'))
}

/** Whether the definition's resource is served. */
export function isEstablished(crd: JsonObject): boolean {
  return arrayAt(objectAt(crd, 'status'), 'conditions')
    .filter(isJsonObject)
    .some(({ type, status }) => type === 'Established' && status === 'True')
}
