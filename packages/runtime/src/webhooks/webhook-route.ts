/** Webhook routes, and what all kinds of them share. */
import { isRecord } from '@reeve/http'
import { objectProblems, type Resource } from '@reeve/kube'
import { RuntimeError } from '../runtime-error.ts'

/** Why a handler could not process a review. */
export interface ReviewFailure {
  /** HTTP status that the user's client gets. */
  readonly code: number
  readonly reason: string
  /** Without internals: it is shown to users. */
  readonly message: string
}

/** For which requests the API server has to call an admission webhook. */
export interface AdmissionTrigger {
  readonly type: 'mutating' | 'validating'
  readonly resources: readonly Resource[]
  readonly operations: readonly ('CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT')[]
}

/** One path of the webhook server. */
export interface WebhookRoute {
  /** For admission webhooks that say what they are `for`: a webhook configuration follows from it. */
  readonly admission?: AdmissionTrigger
  /** For conversion webhooks: the kinds that it converts. `spec.conversion` of their CRDs follows from it. */
  readonly converts?: readonly { readonly group: string; readonly kind: string }[]
  /** Absolute, without a query: `/validate-webapp`. */
  readonly path: string
  /** The response to a review. Rejects with {@link BadReviewError} for a body that is not a review. */
  respond(body: unknown, signal: AbortSignal): Promise<object>
  /** The response to a review that failed. Throws {@link BadReviewError} for a body that is not a review. */
  refuse(body: unknown, failure: ReviewFailure): object
}

/** A request that is not a review: the server responds with an HTTP status instead of a verdict. */
export class BadReviewError extends RuntimeError {
  override readonly name = 'BadReviewError'
  readonly status: number

  constructor(status: number, message: string) {
    super('BAD_REVIEW', message)
    this.status = status
  }
}

/** The `request` of a review of the expected kind, with its uid. */
export function readRequest(
  body: unknown,
  apiVersion: string,
  kind: string,
): Readonly<Record<string, unknown>> & { readonly uid: string } {
  if (!isRecord(body) || body.apiVersion !== apiVersion || body.kind !== kind) {
    throw new BadReviewError(400, `expected kind ${kind} in ${apiVersion}`)
  }
  const { request } = body
  if (!isRecord(request)) throw new BadReviewError(400, `the ${kind} has no request`)
  const { uid } = request
  if (typeof uid !== 'string' || uid === '') throw new BadReviewError(400, `the ${kind} has no request.uid`)
  return { ...request, uid }
}

/** Freezes a value of JSON, recursively, without using the stack. */
export function freezeJson<T>(value: T): T {
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (Array.isArray(next)) {
      for (const item of next) if (isUnfrozen(item)) waiting.push(item)
    } else if (isRecord(next)) {
      // Every review is frozen: unlike Object.values, this makes no lists of members.
      for (const name in next) if (isUnfrozen(next[name])) waiting.push(next[name])
    }
    Object.freeze(next)
  }
  return value
}

function isUnfrozen(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Object.isFrozen(value)
}

/** The problem that makes a value of a review no Kubernetes object, as a sentence that names the field. */
export function objectProblem(field: string, value: unknown): string | undefined {
  const [problem] = objectProblems(value)
  if (problem === undefined) return undefined
  return `${field}${problem.field === '' ? '' : `.${problem.field}`}: ${problem.message}`
}

/** A text from outside, cut to a length that people read. */
export function shortened(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text
}
