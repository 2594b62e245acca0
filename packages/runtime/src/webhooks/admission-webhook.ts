/** Routes that admit, refuse or change what is about to be stored. */
import type { JsonPatchOperation, KubeObject, UnknownObject } from '@reeve/kube'
import type { AdmissionRequest, Approval, Denial, Mutation } from './admission-review.ts'
import { jsonDiff } from './json-diff.ts'
import {
  BadReviewError,
  freezeJson,
  isObject,
  type ReviewFailure,
  readRequest,
  type WebhookRoute,
} from './webhook-route.ts'

const API_VERSION = 'admission.k8s.io/v1'
const KIND = 'AdmissionReview'

/** Answers one request. `signal` aborts when the API server has given up waiting. */
export type AdmissionHandler<T extends KubeObject, R> = (
  request: AdmissionRequest<T>,
  signal: AbortSignal,
) => R | Promise<R>

/**
 * A validating webhook.
 *
 * @example
 * const route = validatingWebhook<WebApp>('/validate-webapp', (request) =>
 *   (request.object?.spec.replicas ?? 0) > 100 ? deny('spec.replicas: must be at most 100') : allow(),
 * )
 */
export function validatingWebhook<T extends KubeObject = UnknownObject>(
  path: string,
  handler: AdmissionHandler<T, Approval | Denial>,
): WebhookRoute {
  return admissionRoute<T>(path, async (request, signal) => {
    const { allowed, warnings, ...rest } = await handler(request, signal)
    // A patch of a validating webhook would make the API server reject the whole answer.
    return allowed
      ? { allowed, ...(warnings && { warnings }) }
      : { ...(rest as Denial), allowed, ...(warnings && { warnings }) }
  })
}

/**
 * A mutating webhook. The handler returns the changed object ({@link mutate}) or a patch.
 *
 * *Guarantee*: only what the handler changed is in the patch, so fields that the handler's types do not know survive.
 *
 * @example
 * const route = mutatingWebhook<WebApp>('/mutate-webapp', ({ object }) =>
 *   object === undefined ? allow() : mutate({ ...object, spec: { replicas: 1, ...object.spec } }),
 * )
 */
export function mutatingWebhook<T extends KubeObject = UnknownObject>(
  path: string,
  handler: AdmissionHandler<T, Mutation | Approval | Denial>,
): WebhookRoute {
  return admissionRoute<T>(path, handler)
}

function admissionRoute<T extends KubeObject>(
  path: string,
  handler: AdmissionHandler<T, Mutation | Denial>,
): WebhookRoute {
  return {
    path,
    answer: async (body, signal) => {
      const request = readAdmission<T>(body)
      const result = await handler(request, signal)
      return review(request.uid, result.allowed ? approval(request, result) : denial(result))
    },
    refuse: (body, failure) => review(readRequest(body, API_VERSION, KIND).uid, denial(asDenial(failure))),
  }
}

function readAdmission<T extends KubeObject>(body: unknown): AdmissionRequest<T> {
  const { object, oldObject, ...request } = readRequest(body, API_VERSION, KIND)
  if (!isObject(request.kind) || !isObject(request.resource) || typeof request.operation !== 'string') {
    throw new BadReviewError(400, `the ${KIND} has no request.kind, request.resource or request.operation`)
  }
  // The API server writes null for an object that is not there.
  const present = { ...(isObject(object) && { object }), ...(isObject(oldObject) && { oldObject }) }
  // The rules of the webhook configuration decide which type arrives; whoever writes the handler wrote them, too.
  return freezeJson({ userInfo: {}, ...request, ...present }) as unknown as AdmissionRequest<T>
}

function approval(request: AdmissionRequest<KubeObject>, result: Mutation): object {
  const patch = result.patch ?? (result.object === undefined ? [] : jsonDiff(request.object ?? {}, result.object))
  return {
    allowed: true,
    ...(patch.length > 0 && { patchType: 'JSONPatch', patch: encode(patch) }),
    ...warningsOf(result),
  }
}

function denial(result: Denial): object {
  const { message, code = 403, reason = 'Forbidden', causes } = result
  return {
    allowed: false,
    status: {
      apiVersion: 'v1',
      kind: 'Status',
      status: 'Failure',
      message,
      reason,
      code,
      ...(causes?.length && { details: { causes } }),
    },
    ...warningsOf(result),
  }
}

function asDenial({ code, reason, message }: ReviewFailure): Denial {
  return { allowed: false, message, code, reason }
}

/** A warning becomes an HTTP header, which cannot carry line breaks. */
function warningsOf({ warnings }: Approval | Denial): object {
  return warnings?.length ? { warnings: warnings.map((warning) => warning.replaceAll(/\s+/g, ' ').trim()) } : {}
}

function review(uid: string, response: object): object {
  return { apiVersion: API_VERSION, kind: KIND, response: { uid, ...response } }
}

function encode(patch: readonly JsonPatchOperation[]): string {
  return Buffer.from(JSON.stringify(patch)).toString('base64')
}
