/** Routes of validating and mutating webhooks. */
import { isRecord } from '@reeve/http'
import type { JsonPatchOperation, KubeObject, Resource, UnknownObject } from '@reeve/kube'
import { jsonDiff } from '../json/json-diff.ts'
import type { AdmissionRequest, Approval, Denial, DenialCause, Mutation } from './admission-review.ts'
import {
  type AdmissionTrigger,
  BadReviewError,
  freezeJson,
  objectProblem,
  type ReviewFailure,
  readRequest,
  shortened,
  type WebhookRoute,
} from './webhook-route.ts'

const API_VERSION = 'admission.k8s.io/v1'
const KIND = 'AdmissionReview'
const OPERATIONS: readonly unknown[] = [
  'CREATE',
  'UPDATE',
  'DELETE',
  'CONNECT',
] satisfies AdmissionRequest['operation'][]

// Handlers quote their input, and the API server passes all of it on to the user.
const MAX_MESSAGE_LENGTH = 8_192
const MAX_CAUSE_LENGTH = 1_024
const MAX_CAUSES = 100

/** Handles one request. `signal` aborts when the API server no longer waits. */
export type AdmissionHandler<T extends KubeObject, R> = (
  request: AdmissionRequest<T>,
  signal: AbortSignal,
) => R | Promise<R>

/** Options of admission webhooks. */
export interface AdmissionWebhookOptions {
  /**
   * The resources whose requests it is called for. The webhook configuration follows from it: see
   * `Operator.webhookConfigurations`. @default the configuration is written manually
   */
  readonly for?: Resource | readonly Resource[]
  /** The operations it is called for. @default ['CREATE', 'UPDATE'] */
  readonly operations?: AdmissionTrigger['operations']
}

/**
 * A validating webhook.
 *
 * @example
 * const route = validatingWebhook<WebApp>(
 *   '/validate-webapp',
 *   ({ object }) => ((object?.spec.replicas ?? 0) > 100 ? deny('spec.replicas: must be at most 100') : allow()),
 *   { for: WebApps },
 * )
 */
export function validatingWebhook<T extends KubeObject = UnknownObject>(
  path: string,
  handler: AdmissionHandler<T, Approval | Denial>,
  options: AdmissionWebhookOptions = {},
): WebhookRoute {
  return admissionRoute<T>({ path, ...triggerOf('validating', options) }, async (request, signal) => {
    const { allowed, warnings, ...rest } = await handler(request, signal)
    // The API server rejects the response of a validating webhook that has a patch.
    return allowed
      ? { allowed, ...(warnings && { warnings }) }
      : { ...(rest as Denial), allowed, ...(warnings && { warnings }) }
  })
}

/** Options of {@link mutatingWebhook}. */
export interface MutatingWebhookOptions extends AdmissionWebhookOptions {
  /**
   * Admit requests unchanged when the handler fails or times out and when the object cannot be read, with the cause in
   * the message of the response. For webhooks that must never block what they would have changed.
   * @default false
   */
  readonly failOpen?: boolean
}

/**
 * A mutating webhook. The handler returns the changed object ({@link mutate}) or a patch.
 *
 * *Guarantee*: only what the handler changed is in the patch, so fields that the handler's types do not know survive.
 *
 * @example
 * const route = mutatingWebhook<WebApp>(
 *   '/mutate-webapp',
 *   ({ object }) => (object === undefined ? allow() : mutate({ ...object, spec: { replicas: 1, ...object.spec } })),
 *   { for: WebApps },
 * )
 */
export function mutatingWebhook<T extends KubeObject = UnknownObject>(
  path: string,
  handler: AdmissionHandler<T, Mutation | Approval | Denial>,
  { failOpen = false, ...options }: MutatingWebhookOptions = {},
): WebhookRoute {
  return admissionRoute<T>({ path, ...triggerOf('mutating', options) }, handler, failOpen ? admitUnchanged : denial)
}

function triggerOf(
  type: AdmissionTrigger['type'],
  { for: resources = [], operations = ['CREATE', 'UPDATE'] }: AdmissionWebhookOptions,
): Pick<WebhookRoute, 'admission'> {
  // A list is one of several resources.
  const list = 'plural' in resources ? [resources] : resources
  return list.length === 0 ? {} : { admission: { type, resources: list, operations } }
}

function admissionRoute<T extends KubeObject>(
  route: Pick<WebhookRoute, 'path' | 'admission'>,
  handler: AdmissionHandler<T, Mutation | Denial>,
  onFailure: (failure: Denial) => object = denial,
): WebhookRoute {
  return {
    ...route,
    respond: async (body, signal) => {
      const request = readAdmission(body)
      const problem = problemOf(request)
      if (problem !== undefined) return review(request.uid, onFailure(badRequest(problem)))
      const result = await handler(typed<T>(request), signal)
      return review(request.uid, result.allowed ? approval(request, result) : denial(result))
    },
    refuse: (body, failure) => review(readRequest(body, API_VERSION, KIND).uid, onFailure(asDenial(failure))),
  }
}

type ReadRequest = ReturnType<typeof readRequest>

function readAdmission(body: unknown): ReadRequest {
  const { object, oldObject, ...request } = readRequest(body, API_VERSION, KIND)
  if (!isRecord(request.kind) || !isRecord(request.resource)) {
    throw new BadReviewError(400, `the ${KIND} has no request.kind or request.resource`)
  }
  if (!OPERATIONS.includes(request.operation)) {
    throw new BadReviewError(400, `request.operation of the ${KIND} must be one of ${OPERATIONS.join(', ')}`)
  }
  for (const field of ['name', 'namespace', 'subResource'] as const) {
    if (isPresent(request[field]) && typeof request[field] !== 'string') {
      throw new BadReviewError(400, `request.${field} of the ${KIND} must be a string`)
    }
  }
  // The API server writes null for an object that does not exist.
  const present = { ...(isPresent(object) && { object }), ...(isPresent(oldObject) && { oldObject }) }
  return freezeJson({ userInfo: {}, ...request, ...present })
}

/**
 * What keeps an object of the request from being handled. A denial, as opposed to a bad request, cannot be ignored by
 * the failure policy of the webhook.
 */
function problemOf({ operation, object, oldObject }: ReadRequest): string | undefined {
  // Handlers take a missing object for a deletion, and allow it.
  if (object === undefined && (operation === 'CREATE' || operation === 'UPDATE')) {
    return `request.object: is required to ${operation}`
  }
  for (const [field, value] of Object.entries({ object, oldObject })) {
    if (value === undefined) continue
    // What a connection is made with, such as PodExecOptions, has no metadata.
    const isFit = operation === 'CONNECT' && isRecord(value)
    const problem = isFit ? undefined : objectProblem(`request.${field}`, value)
    if (problem !== undefined) return shortened(problem, MAX_CAUSE_LENGTH)
  }
  return undefined
}

function typed<T extends KubeObject>(request: ReadRequest): AdmissionRequest<T> {
  // The rules of the webhook configuration decide which type arrives; they have the same author as the handler.
  return request as unknown as AdmissionRequest<T>
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

function approval(request: ReadRequest, result: Mutation): object {
  const patch = result.patch ?? (result.object === undefined ? [] : jsonDiff(request.object ?? {}, result.object))
  return {
    allowed: true,
    ...(patch.length > 0 && { patchType: 'JSONPatch', patch: encode(patch) }),
    ...messageOf(result.message),
    ...warningsOf(result),
  }
}

function admitUnchanged({ message }: Denial): object {
  return { allowed: true, ...messageOf(message) }
}

function messageOf(message: string | undefined): object {
  return message ? { status: { code: 200, message: shortened(message, MAX_MESSAGE_LENGTH) } } : {}
}

function denial(result: Denial): object {
  const { message, code = 403, reason = 'Forbidden', causes } = result
  return {
    allowed: false,
    status: {
      apiVersion: 'v1',
      kind: 'Status',
      status: 'Failure',
      message: shortened(message, MAX_MESSAGE_LENGTH),
      reason,
      code,
      ...(causes?.length && { details: { causes: causes.slice(0, MAX_CAUSES).map(shortCause) } }),
    },
    ...warningsOf(result),
  }
}

function asDenial({ code, reason, message }: ReviewFailure): Denial {
  return { allowed: false, message, code, reason }
}

function badRequest(message: string): Denial {
  return { allowed: false, message, code: 400, reason: 'BadRequest' }
}

function shortCause({ field, message, reason }: DenialCause): DenialCause {
  return {
    ...(field !== undefined && { field: shortened(field, MAX_CAUSE_LENGTH) }),
    message: shortened(message, MAX_CAUSE_LENGTH),
    ...(reason !== undefined && { reason }),
  }
}

/** A warning becomes an HTTP header, which cannot carry line breaks. */
function warningsOf({ warnings }: Approval | Denial): object {
  if (!warnings?.length) return {}
  const lines = warnings.slice(0, MAX_CAUSES).map((warning) => shortened(warning, MAX_CAUSE_LENGTH))
  return { warnings: lines.map((line) => line.replaceAll(/\s+/g, ' ').trim()) }
}

function review(uid: string, response: object): object {
  return { apiVersion: API_VERSION, kind: KIND, response: { uid, ...response } }
}

function encode(patch: readonly JsonPatchOperation[]): string {
  return Buffer.from(JSON.stringify(patch)).toString('base64')
}
