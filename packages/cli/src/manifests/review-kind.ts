/** Reviews the objects of one kind in files, for operators with a single kind. */
import type { Problem } from '@reeve/crd'
import { apiVersionOf, type KubeObject, metadataProblems, type Resource } from '@reeve/kube'
import type { Manifests } from './manifest-file.ts'
import { type ManifestObject, objectsIn, titleOf } from './manifest-object.ts'
import type { Finding, Review } from './review.ts'

/** The result of validating an object: problems reject it, warnings do not. */
export interface Verdict {
  readonly problems: readonly Problem[]
  readonly warnings?: readonly Problem[]
}

/**
 * Calls `judge` for every object of a kind, and adds the position in the files to each finding. Objects of other kinds
 * are skipped; one of another version is an error, and one that looks misspelt a warning, because it would not be checked.
 *
 * *Assumptions*: `judge` supports objects with only apiVersion and kind. The types in `metadata` are valid.
 *
 * @example
 * const review = reviewKind(await readManifests(['webapp.yaml'], readStdin), WebApps, validateWebApp)
 */
export function reviewKind<T extends KubeObject>(
  { documents, problems }: Manifests,
  resource: Resource<T>,
  judge: (object: T) => Verdict,
): Review {
  const findings: Finding[] = problems.map((problem) => ({ ...problem, severity: 'error' }))
  let checked = 0
  let skipped = 0
  for (const entry of objectsIn(documents)) {
    if (!('object' in entry)) findings.push({ ...entry, severity: 'error' })
    else if (isOf(resource, entry.object)) {
      checked++
      const malformed = metadataProblems(entry.object.metadata)
      const { problems: errors, warnings = [] } = malformed.length > 0 ? { problems: malformed } : judge(entry.object)
      const remarks = [...errors.map(at(entry, 'error')), ...warnings.map(at(entry, 'warning'))]
      findings.push(...remarks.sort(byPosition))
    } else {
      const mistaken = mistakenFor(resource, entry)
      if (mistaken?.severity !== 'error') skipped++
      if (mistaken !== undefined) findings.push(mistaken)
    }
  }
  return { checked, skipped, findings }
}

/** It declares this kind; `judge` validates the rest. */
function isOf<T extends KubeObject>(resource: Resource<T>, object: KubeObject): object is T {
  return object.kind === resource.kind && object.apiVersion === apiVersionOf(resource)
}

/** A finding about an object that is not of this kind, but probably meant to be. */
function mistakenFor(resource: Resource, { file, object, locate }: ManifestObject): Finding | undefined {
  const [group = ''] = object.apiVersion.split('/')
  const expected = apiVersionOf(resource)
  const [isOfGroup, isOfKind] = [group === resource.group, object.kind === resource.kind]
  if (!isOfGroup && !isOfKind) return undefined
  const finding = { file, ...locate(isOfKind ? 'apiVersion' : 'kind'), object: titleOf(object) }
  if (isOfGroup && isOfKind) {
    return { ...finding, severity: 'error', message: `unknown version "${object.apiVersion}"; use ${expected}` }
  }
  const message = `${object.apiVersion} ${object.kind} is not checked; ${expected} ${resource.kind} would be`
  return { ...finding, severity: 'warning', message }
}

const byPosition = (one: Finding, other: Finding): number => one.line - other.line || one.column - other.column

function at({ file, object, locate }: ManifestObject, severity: Finding['severity']) {
  return ({ field, message }: Problem): Finding => ({
    file,
    ...locate(field),
    object: titleOf(object),
    severity,
    field,
    message: `${field}: ${message}`,
  })
}
