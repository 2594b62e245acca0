/** Validates that an untrusted value is a Kubernetes object, for the fields that all kinds share. */
import { isRecord, ownValue } from '@reeve/http'

/** An invalid field. */
export interface FieldProblem {
  /** Such as `metadata.labels[app]`. */
  readonly field: string
  readonly message: string
}

/** Optional string fields of `metadata`. */
const TEXTS = ['name', 'generateName', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp']

/** Fields of `metadata` that map strings to strings. */
const MAPS = ['labels', 'annotations']

/** More errors would not help to fix them. */
const MAX_PROBLEMS = 10

/**
 * Lists why `value` is not a valid `KubeObject`; at most ten problems, none if it is valid. Only types are checked;
 * `null` counts as absent where a field is optional, as in the API server.
 *
 * @example
 * const [problem] = objectProblems(review.request.object)
 * if (problem !== undefined) return deny(`${problem.field}: ${problem.message}`)
 */
export function objectProblems(value: unknown): readonly FieldProblem[] {
  if (!isRecord(value)) return [{ field: '', message: 'must be an object' }]
  const problems: FieldProblem[] = []
  for (const field of ['apiVersion', 'kind']) {
    const text = ownValue(value, field)
    if (typeof text !== 'string' || text === '') problems.push({ field, message: 'must be a string' })
  }
  return [...problems, ...metadataProblems(ownValue(value, 'metadata'))].slice(0, MAX_PROBLEMS)
}

/**
 * Lists wrong types in `metadata`, as {@link objectProblems} does.
 *
 * @example
 * metadataProblems({ name: 5 }) // [{ field: 'metadata.name', message: 'must be a string' }]
 */
export function metadataProblems(metadata: unknown): readonly FieldProblem[] {
  if (!isRecord(metadata)) return [{ field: 'metadata', message: 'must be an object' }]
  const problems: FieldProblem[] = []
  for (const problem of problemsIn(metadata)) {
    problems.push(problem)
    if (problems.length === MAX_PROBLEMS) break
  }
  return problems
}

function* problemsIn(metadata: Readonly<Record<string, unknown>>): Generator<FieldProblem> {
  for (const name of TEXTS) yield* textProblems(`metadata.${name}`, ownValue(metadata, name) ?? '')
  for (const name of MAPS) {
    const map = ownValue(metadata, name) ?? {}
    const field = `metadata.${name}`
    if (!isRecord(map)) yield { field, message: 'must be an object' }
    else for (const [key, text] of Object.entries(map)) yield* textProblems(`${field}[${key}]`, text)
  }
  for (const [index, finalizer] of listIn(metadata, 'finalizers').entries()) {
    yield* textProblems(`metadata.finalizers[${index}]`, finalizer)
  }
  for (const [index, owner] of listIn(metadata, 'ownerReferences').entries()) {
    if (!isRecord(owner)) yield { field: `metadata.ownerReferences[${index}]`, message: 'must be an object' }
  }
  for (const name of ['finalizers', 'ownerReferences']) {
    if (!Array.isArray(ownValue(metadata, name) ?? [])) yield { field: `metadata.${name}`, message: 'must be a list' }
  }
}

function* textProblems(field: string, value: unknown): Generator<FieldProblem> {
  if (typeof value !== 'string') yield { field, message: 'must be a string' }
}

function listIn(object: Readonly<Record<string, unknown>>, name: string): readonly unknown[] {
  const value = ownValue(object, name)
  return Array.isArray(value) ? value : []
}
