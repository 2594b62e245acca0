/** Says about the objects of files what an API server and the webhook would say about them. */

import {
  type Finding,
  type ManifestObject,
  type Manifests,
  objectsIn,
  type Position,
  type Review,
  titleOf,
} from '@reeve/cli/manifests'
import type { KubeObject } from '@reeve/kube'
import { IgnoredNamespacePatterns } from '../api/ignored-namespaces.ts'
import { API_GROUP, API_KINDS, type ApiKind } from '../api/kinds.ts'
import type { DynaKube } from '../api/latest.ts'
import { reviewBySchema, type SchemaReview } from '../api/schema-review.ts'
import { fieldInMessage } from '../api/validation/field-in-message.ts'
import type { Modules } from '../api/validation/modules.ts'
import type { RuleFinding } from '../api/validation/rule.ts'
import { OfflineLookups } from './offline-lookups.ts'

/** A DynaKube or EdgeConnect of a version that exists, as the schema sees it. */
interface Candidate extends ManifestObject {
  readonly kind: ApiKind
  readonly bySchema: SchemaReview
}

/** Reviews everything that was read. DynaKubes of one run know each other, as if they were applied together. */
export async function reviewManifests({ documents, problems }: Manifests, modules: Modules): Promise<Review> {
  const findings: Finding[] = problems.map((problem) => ({ ...problem, severity: 'error', rule: 'yaml' }))
  const candidates: Candidate[] = []
  const others: KubeObject[] = []
  let refused = 0
  for (const entry of objectsIn(documents)) {
    if (!('object' in entry)) findings.push({ ...entry, severity: 'error', rule: 'yaml' })
    else if (!entry.object.apiVersion.startsWith(`${API_GROUP}/`)) {
      others.push(entry.object)
      findings.push(skippedNote(entry))
    } else {
      const candidate = toCandidate(entry)
      if ('bySchema' in candidate) candidates.push(candidate)
      else {
        refused++
        findings.push(candidate)
      }
    }
  }
  const known = {
    modules,
    ignoredNamespaces: new IgnoredNamespacePatterns(),
    dynakubes: lastOfEachName(candidates.flatMap(storedDynaKube)),
    others,
  }
  for (const candidate of candidates) {
    const lookups = new OfflineLookups(known, candidate.object.metadata.namespace ?? '')
    findings.push(...(await reviewOne(candidate, lookups)))
  }
  const files = [...new Set(findings.map(({ file }) => file))]
  return {
    checked: candidates.length + refused,
    skipped: others.length,
    findings: files.flatMap((file) => findings.filter((finding) => finding.file === file).sort(byPosition)),
  }
}

const byPosition = (one: Position, other: Position): number => one.line - other.line || one.column - other.column

function skippedNote(entry: ManifestObject): Finding {
  return finding(entry, 'note', 'kind', 'kind', `skipped: ${entry.object.apiVersion} does not belong to the operator`)
}

function toCandidate(entry: ManifestObject): Candidate | Finding {
  const { object } = entry
  const kind = API_KINDS.find(({ crd }) => crd.kind === object.kind)
  if (kind === undefined) {
    const known = API_KINDS.map(({ crd }) => crd.kind).join(' and ')
    return finding(entry, 'error', 'version', 'kind', `${API_GROUP} has no kind ${object.kind}; it has ${known}`)
  }
  const version = object.apiVersion.slice(API_GROUP.length + 1)
  const served = Object.entries(kind.crd.versions).flatMap(([name, { served: isServed = true }]) =>
    isServed ? [name] : [],
  )
  if (!served.includes(version)) {
    const message = `${object.kind} is not served in ${object.apiVersion}; use one of ${served.join(', ')}`
    return finding(entry, 'error', 'version', 'apiVersion', message)
  }
  return { ...entry, kind, bySchema: reviewBySchema(kind.crd, version, object) }
}

/** Only what the schema admits can be converted. */
function storedDynaKube({ kind, bySchema }: Candidate): readonly DynaKube[] {
  if (kind.crd.kind !== 'DynaKube' || bySchema.problems.length > 0) return []
  const stored = kind.convert(bySchema.object, 'v1beta6')
  // The schema admits objects without a spec, which no rule has anything to learn from.
  return 'spec' in stored ? [stored as DynaKube] : []
}

/** Applied one after the other, the last of a name is what stays. */
function lastOfEachName(dynakubes: readonly DynaKube[]): readonly DynaKube[] {
  return [
    ...new Map(dynakubes.map((each) => [`${each.metadata.namespace}/${each.metadata.name}`, each] as const)).values(),
  ]
}

async function reviewOne(candidate: Candidate, lookups: OfflineLookups): Promise<readonly Finding[]> {
  const { kind, bySchema } = candidate
  const unknown = bySchema.unknownFields.map((field) =>
    finding(candidate, 'warning', 'unknown-field', field, `unknown field "${field}": it would be dropped`),
  )
  if (bySchema.problems.length > 0) {
    const problems = bySchema.problems.map(({ field, message }) =>
      finding(candidate, 'error', 'schema', field, `${field} ${message}`),
    )
    const unchecked = finding(
      candidate,
      'note',
      'schema',
      undefined,
      'the rules of admission were not checked, as the schema refuses it already',
    )
    return [...unknown, ...problems, unchecked]
  }
  const { errors, warnings } = await kind.judge(bySchema.object, (rule) => lookups.for(rule))
  const inTheDark = new Set(lookups.doubts.flatMap(({ rule, isChecked }) => (isChecked ? [] : [rule])))
  const by =
    (severity: 'error' | 'warning') =>
    ({ rule, message }: RuleFinding) =>
      finding(candidate, severity, rule, fieldInMessage(message, candidate.object), message)
  return [
    ...unknown,
    ...errors.filter(({ rule }) => !inTheDark.has(rule)).map(by('error')),
    ...warnings.map(by('warning')),
    ...lookups.doubts.map(({ rule, message }) => finding(candidate, 'note', rule, undefined, message)),
  ]
}

function finding(
  { file, object, locate }: ManifestObject,
  severity: Finding['severity'],
  rule: string,
  field: string | undefined,
  message: string,
): Finding {
  const position = locate(field ?? 'kind')
  return { file, ...position, object: titleOf(object), severity, rule, ...(field !== undefined && { field }), message }
}
