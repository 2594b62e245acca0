/** Errors of Helm, charts and the cluster: one class per case that a caller may handle. */
import { CodedError } from '@reeve/http'

/** Stable codes of the errors of this package; decide by these (or by the class), never by message. */
export type HelmErrorCode =
  | 'HELM_MISSING'
  | 'HELM_UNSUPPORTED'
  | 'HELM_INVALID_REQUEST'
  | 'HELM_FAILED'
  | 'HELM_BAD_OUTPUT'
  | 'HELM_TIMEOUT'
  | 'HELM_BUSY'
  | 'HELM_OPERATION_IN_PROGRESS'
  | 'HELM_RELEASE_NOT_FOUND'
  | 'HELM_RELEASE_EXISTS'
  | 'HELM_RELEASE_RECORD'
  | 'HELM_VALUES_REFUSED'
  | 'HELM_TEMPLATE'
  | 'HELM_OBJECT_REFUSED'
  | 'HELM_FIELD_CONFLICT'
  | 'HELM_OBJECT_NOT_OWNED'
  | 'HELM_NAMESPACE_MISSING'
  | 'HELM_FORBIDDEN'
  | 'HELM_CLUSTER_UNREACHABLE'
  | 'HELM_CHART_NOT_FOUND'
  | 'HELM_CHART_INVALID'
  | 'HELM_CHART_REFUSED'
  | 'HELM_CHART_UNREACHABLE'
  | 'HELM_DIGEST_MISMATCH'

/**
 * Base of every error that this package throws, apart from the reason of a caller's own signal. Messages are redacted:
 * they contain neither values of Secrets nor what the caller named as secret.
 *
 * @example
 * if (error instanceof HelmError && error.code === 'HELM_OPERATION_IN_PROGRESS') return requeue()
 */
export abstract class HelmError extends CodedError<HelmErrorCode> {}

/** No helm was found, or what was named cannot be run. */
export class HelmMissingError extends HelmError {
  override readonly name = 'HelmMissingError'
  override readonly code = 'HELM_MISSING'
}

/** A helm was found whose version is neither 3.x nor 4.x. */
export class HelmUnsupportedError extends HelmError {
  override readonly name = 'HelmUnsupportedError'
  override readonly code = 'HELM_UNSUPPORTED'
  readonly version: string

  constructor(path: string, version: string) {
    super(`${path} is helm ${version}: versions 3.13 and newer of 3.x, and 4.x, are supported`)
    this.version = version
  }
}

/** A call with invalid arguments, such as a name that Helm would reject. */
export class InvalidHelmRequestError extends HelmError {
  override readonly name = 'InvalidHelmRequestError'
  override readonly code = 'HELM_INVALID_REQUEST'
}

/** Helm failed for a reason that has no specific class; the message has the end of its output, redacted. */
export class HelmFailedError extends HelmError {
  override readonly name = 'HelmFailedError'
  override readonly code = 'HELM_FAILED'
  /** `null` when a signal that was not ours ended it. */
  readonly exitCode: number | null

  constructor(message: string, exitCode: number | null) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Helm succeeded and printed something that is not what it promises, or far too much. */
export class BadHelmOutputError extends HelmError {
  override readonly name = 'BadHelmOutputError'
  override readonly code = 'HELM_BAD_OUTPUT'
}

/** A command took longer than it may. */
export class HelmTimeoutError extends HelmError {
  override readonly name = 'HelmTimeoutError'
  override readonly code = 'HELM_TIMEOUT'
  /** `helm`: it timed out and recorded that. `driver`: its processes were killed, the state is unknown. */
  readonly endedBy: 'helm' | 'driver'

  constructor(message: string, endedBy: 'helm' | 'driver') {
    super(message)
    this.endedBy = endedBy
  }
}

/** The queue of commands is full. */
export class HelmBusyError extends HelmError {
  override readonly name = 'HelmBusyError'
  override readonly code = 'HELM_BUSY'
}

/** The release is in a `pending-*` state: an operation is in progress or was interrupted. See `recover`. */
export class OperationInProgressError extends HelmError {
  override readonly name = 'OperationInProgressError'
  override readonly code = 'HELM_OPERATION_IN_PROGRESS'
}

/** The release, or this revision of it, does not exist. */
export class ReleaseNotFoundError extends HelmError {
  override readonly name = 'ReleaseNotFoundError'
  override readonly code = 'HELM_RELEASE_NOT_FOUND'
}

/** An install found a release of that name. */
export class ReleaseExistsError extends HelmError {
  override readonly name = 'ReleaseExistsError'
  override readonly code = 'HELM_RELEASE_EXISTS'
}

/** A Secret that claims to be a release record and cannot be read as one. */
export class ReleaseRecordError extends HelmError {
  override readonly name = 'ReleaseRecordError'
  override readonly code = 'HELM_RELEASE_RECORD'
  /** It would cost too much to read: do not start Helm on the release either. */
  readonly exceedsLimits: boolean

  constructor(message: string, { exceedsLimits = false }: { readonly exceedsLimits?: boolean } = {}) {
    super(message)
    this.exceedsLimits = exceedsLimits
  }
}

/** One value that the chart's schema rejects. */
export interface ValueProblem {
  /** Where in the values, such as `image.tag`; empty for the values as a whole. */
  readonly path: string
  readonly message: string
}

/** The chart's `values.schema.json` rejects the values. Only other values, or another chart, will help. */
export class ValuesRefusedError extends HelmError {
  override readonly name = 'ValuesRefusedError'
  override readonly code = 'HELM_VALUES_REFUSED'
  readonly problems: readonly ValueProblem[]

  constructor(message: string, problems: readonly ValueProblem[]) {
    super(message)
    this.problems = problems
  }
}

/** A template could not be rendered, or rendered to something that is not an object. */
export class TemplateError extends HelmError {
  override readonly name = 'TemplateError'
  override readonly code = 'HELM_TEMPLATE'
  /** Path inside the chart, such as `web/templates/deployment.yaml`, when Helm names one. */
  readonly file: string | undefined
  readonly line: number | undefined

  constructor(message: string, place: { readonly file?: string; readonly line?: number } = {}, options?: ErrorOptions) {
    super(message, options)
    this.file = place.file
    this.line = place.line
  }
}

/** The API server rejects an object of the chart: invalid, of an unknown kind, or denied by an admission webhook. */
export class ObjectRefusedError extends HelmError {
  override readonly name = 'ObjectRefusedError'
  override readonly code = 'HELM_OBJECT_REFUSED'
}

/** Another field manager owns fields that the chart sets. */
export class FieldConflictError extends HelmError {
  override readonly name = 'FieldConflictError'
  override readonly code = 'HELM_FIELD_CONFLICT'
  readonly managers: readonly string[]
  readonly fields: readonly string[]

  constructor(message: string, conflict: { readonly managers: readonly string[]; readonly fields: readonly string[] }) {
    super(message)
    this.managers = conflict.managers
    this.fields = conflict.fields
  }
}

/** An object of the chart exists already and does not belong to the release. */
export class ObjectNotOwnedError extends HelmError {
  override readonly name = 'ObjectNotOwnedError'
  override readonly code = 'HELM_OBJECT_NOT_OWNED'
}

/** The namespace of the release does not exist. */
export class NamespaceMissingError extends HelmError {
  override readonly name = 'NamespaceMissingError'
  override readonly code = 'HELM_NAMESPACE_MISSING'
}

/** The credentials that Helm runs with may not do what the release needs. */
export class HelmForbiddenError extends HelmError {
  override readonly name = 'HelmForbiddenError'
  override readonly code = 'HELM_FORBIDDEN'
}

/** The API server could not be reached. */
export class ClusterUnreachableError extends HelmError {
  override readonly name = 'ClusterUnreachableError'
  override readonly code = 'HELM_CLUSTER_UNREACHABLE'
}

/** The source does not have the chart or version, or the file does not exist. */
export class ChartNotFoundError extends HelmError {
  override readonly name = 'ChartNotFoundError'
  override readonly code = 'HELM_CHART_NOT_FOUND'
}

/** What the source delivered is not a chart, is too large, or contains what no chart may contain. */
export class ChartInvalidError extends HelmError {
  override readonly name = 'ChartInvalidError'
  override readonly code = 'HELM_CHART_INVALID'
}

/** The source rejected the credentials, or its certificate cannot be trusted. */
export class ChartRefusedError extends HelmError {
  override readonly name = 'ChartRefusedError'
  override readonly code = 'HELM_CHART_REFUSED'
}

/** The source could not be reached and the cache has no such chart. */
export class ChartUnreachableError extends HelmError {
  override readonly name = 'ChartUnreachableError'
  override readonly code = 'HELM_CHART_UNREACHABLE'
}

/** The bytes that arrived are not the ones that were requested or announced. They were discarded. */
export class DigestMismatchError extends HelmError {
  override readonly name = 'DigestMismatchError'
  override readonly code = 'HELM_DIGEST_MISMATCH'
  readonly expected: string
  /** Absent when the bytes were not read to the end. */
  readonly actual: string | undefined

  constructor(what: string, { expected, actual }: { readonly expected: string; readonly actual?: string }) {
    const found = actual === undefined ? 'other bytes than' : `digest ${actual}, not`
    super(`${what} has ${found} ${expected}: check the digest, or who changed the chart`)
    this.expected = expected
    this.actual = actual
  }
}

const TRANSIENT: ReadonlySet<HelmErrorCode> = new Set<HelmErrorCode>([
  'HELM_TIMEOUT',
  'HELM_BUSY',
  'HELM_OPERATION_IN_PROGRESS',
  'HELM_CLUSTER_UNREACHABLE',
  'HELM_CHART_UNREACHABLE',
  'HELM_FAILED',
])

/**
 * Whether the same call may succeed later without a change of values, chart or permissions. After an unknown
 * failure it may: it is tried again, slowly.
 *
 * @example
 * if (isTransientHelmError(error)) throw error // the queue tries again; otherwise report it to the user
 */
export function isTransientHelmError(error: unknown): boolean {
  return error instanceof HelmError && TRANSIENT.has(error.code)
}
