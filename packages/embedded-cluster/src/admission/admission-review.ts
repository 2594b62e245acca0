/** Writes AdmissionReview requests and validates the responses of webhooks, which are not trusted. */

import type { AdmissionAttributes } from '../api/admission-plugin.ts'
import { isJsonObject, type JsonObject, type JsonValue, stringAt } from '../json.ts'
import { jsonKind } from '../patch/undecodable.ts'
import type { ResourceInfo } from '../registry/resource-info.ts'
import { type StatusDetails, StatusError } from '../status-error.ts'

const API_VERSION = 'admission.k8s.io/v1'
const optionKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions', CONNECT: '' } as const

/** The validated response of a webhook. */
export interface AdmissionVerdict {
  readonly allowed: boolean
  /** The Status of a denial, as the webhook wrote it. */
  readonly status: JsonObject | undefined
  /** The operations of the JSON patch; absent when the webhook does not patch. */
  readonly patch: JsonValue | undefined
  readonly warnings: readonly string[]
}

/** The response violates the AdmissionReview contract; `message` describes how, in the wording shown to clients. */
export class InvalidReviewError extends Error {
  readonly code = 'INVALID_ADMISSION_REVIEW'

  constructor(message: string, options?: ErrorOptions & { readonly prefix?: string }) {
    super(`${options?.prefix ?? 'received invalid webhook response'}: ${message}`, options)
    this.name = 'InvalidReviewError'
  }
}

/** A response that cannot be decoded, which the API server treats as a failed call. */
function undecodable(why: string): InvalidReviewError {
  return new InvalidReviewError(why, { prefix: 'failed to call webhook' })
}

function undecodablePatch(why: string, cause?: unknown): InvalidReviewError {
  return new InvalidReviewError(why, { prefix: 'received undecodable patch in webhook response', cause })
}

/**
 * The review sent to a webhook about `attributes`, in the version `seenAs` that its rules match. `object` and
 * `oldObject` are passed in that version.
 */
export function writeReview(
  uid: string,
  attributes: AdmissionAttributes,
  seenAs: ResourceInfo,
  object: JsonObject | undefined,
  oldObject: JsonObject | undefined,
): JsonObject {
  const { operation, subresource, user, options } = attributes
  const sub = subresource === undefined || subresource === '' ? undefined : subresource
  return {
    kind: 'AdmissionReview',
    apiVersion: API_VERSION,
    request: {
      uid,
      kind: kindOf(seenAs, sub),
      resource: resourceOf(seenAs),
      ...(sub === undefined ? {} : { subResource: sub }),
      requestKind: kindOf(attributes.resource, sub),
      requestResource: resourceOf(attributes.resource),
      ...(sub === undefined ? {} : { requestSubResource: sub }),
      ...(attributes.name === undefined || attributes.name === '' ? {} : { name: attributes.name }),
      ...pick('namespace', namespaceOf(attributes)),
      operation,
      userInfo: {
        username: user.username,
        ...(user.uid === undefined ? {} : { uid: user.uid }),
        groups: [...user.groups],
        ...(user.extra === undefined ? {} : { extra: copyExtra(user.extra) }),
      },
      object: object ?? null,
      oldObject: oldObject ?? null,
      dryRun: attributes.dryRun,
      options: optionKinds[operation] === '' ? null : withKind(options, optionKinds[operation]),
    },
  }
}

/** The namespace of a Namespace object is its own name. */
function namespaceOf({ resource, namespace, name }: AdmissionAttributes): string | undefined {
  const own = resource.group === '' && resource.plural === 'namespaces' ? name : namespace
  return own === '' ? undefined : own
}

/** Reads the response to the review `uid`. Throws `InvalidReviewError` if it violates the contract. */
export function readReview(review: JsonObject, uid: string, mayPatch: boolean): AdmissionVerdict {
  requireDecodable(review)
  const { response } = review
  if (!isJsonObject(response)) throw new InvalidReviewError('webhook response was absent')
  if (review.kind !== 'AdmissionReview' || review.apiVersion !== API_VERSION) {
    const got = `${stringAt(review, 'apiVersion') ?? '/'}, Kind=${stringAt(review, 'kind') ?? ''}`
    throw new InvalidReviewError(`expected webhook response of ${API_VERSION}, Kind=AdmissionReview, got ${got}`)
  }
  if (response.uid !== uid) {
    const got = typeof response.uid === 'string' ? response.uid.slice(0, 100) : ''
    throw new InvalidReviewError(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(got)}`)
  }
  return {
    allowed: response.allowed === true,
    status: isJsonObject(response.status) ? response.status : undefined,
    patch: readPatch(response, mayPatch),
    warnings: Array.isArray(response.warnings) ? response.warnings.filter((text) => typeof text === 'string') : [],
  }
}

/** Errors of the API server's decoder, which runs before the response is evaluated. */
function requireDecodable({ apiVersion, kind, response }: JsonObject): void {
  const hasType = typeof apiVersion === 'string' && apiVersion !== '' && typeof kind === 'string' && kind !== ''
  if (hasType && apiVersion === 'admission.k8s.io/v1beta1' && kind === 'AdmissionReview') {
    throw undecodable('converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion')
  }
  if (hasType && (apiVersion !== API_VERSION || kind !== 'AdmissionReview')) {
    const type = `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`
    throw undecodable(`${type} in scheme "pkg/runtime/scheme.go:111"`)
  }
  if (!isJsonObject(response)) return
  const { allowed, status } = response
  const field = 'Go struct field AdmissionResponse.response'
  if (allowed !== undefined && allowed !== null && typeof allowed !== 'boolean') {
    throw undecodable(`json: cannot unmarshal ${jsonKind(allowed)} into ${field}.allowed of type bool`)
  }
  if (status !== undefined && status !== null && !isJsonObject(status)) {
    throw undecodable(`json: cannot unmarshal ${jsonKind(status)} into ${field}.status of type v1.Status`)
  }
}

/** The Status of a denial; never has a code that clients would interpret as success. */
export function denial(webhookName: string, status: JsonObject | undefined): StatusError {
  const code = typeof status?.code === 'number' && status.code >= 400 && status.code <= 999 ? status.code : 400
  const reason = typeof status?.reason === 'string' ? status.reason : ''
  const message = typeof status?.message === 'string' ? status.message : ''
  const denied = `admission webhook ${JSON.stringify(webhookName)} denied the request`
  const why = message === '' ? reason : message
  const details = isJsonObject(status?.details) ? readDetails(status.details) : undefined
  return new StatusError(code, reason, why === '' ? `${denied} without explanation` : `${denied}: ${why}`, details)
}

function readPatch(response: JsonObject, mayPatch: boolean): JsonValue | undefined {
  const { patch, patchType } = response
  const hasPatch = patch !== undefined && patch !== null && patch !== ''
  const hasType = patchType !== undefined && patchType !== null
  if (!mayPatch && hasPatch) throw new InvalidReviewError('validating webhook may not return response.patch')
  if (!mayPatch && hasType) throw new InvalidReviewError('validating webhook may not return response.patchType')
  if (hasPatch && !hasType) throw new InvalidReviewError('webhook returned response.patch but not response.patchType')
  if (!hasPatch && hasType) throw new InvalidReviewError('webhook returned response.patchType but not response.patch')
  if (!hasPatch) return undefined
  if (patchType !== 'JSONPatch') {
    throw new InvalidReviewError(`webhook returned invalid response.patchType of ${JSON.stringify(patchType)}`)
  }
  if (typeof patch !== 'string' || !isBase64(patch)) throw new InvalidReviewError('response.patch is not base64')
  const operations = parsePatch(Buffer.from(patch, 'base64').toString('utf8'))
  if (Array.isArray(operations)) return operations
  throw undecodablePatch(`json: cannot unmarshal ${jsonKind(operations)} into Go value of type jsonpatch.Patch`)
}

function parsePatch(text: string): JsonValue {
  try {
    return JSON.parse(text)
  } catch (error) {
    const [first = ''] = text.trimStart()
    throw undecodablePatch(`invalid character '${first}' looking for beginning of value`, error)
  }
}

/** Node skips invalid base64 characters, which would decode a malformed patch into a different one. */
function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/\s]*={0,2}$/.test(text.trimEnd())
}

/** Copies the fields that a Status may have, if they have the right type: the webhook's JSON is not trusted. */
function readDetails(details: JsonObject): StatusDetails {
  const text = (value: JsonValue | undefined) => (typeof value === 'string' && value !== '' ? value : undefined)
  const causes = Array.isArray(details.causes) ? details.causes.filter(isJsonObject) : []
  const seconds = details.retryAfterSeconds
  return {
    ...pick('name', text(details.name)),
    ...pick('group', text(details.group)),
    ...pick('kind', text(details.kind)),
    ...pick('uid', text(details.uid)),
    ...(causes.length === 0
      ? {}
      : {
          causes: causes.map((cause) => ({
            ...pick('reason', text(cause.reason)),
            ...pick('message', text(cause.message)),
            ...pick('field', text(cause.field)),
          })),
        }),
    ...(typeof seconds === 'number' ? { retryAfterSeconds: seconds } : {}),
  }
}

function pick<K extends string>(key: K, value: string | undefined): { [P in K]?: string } {
  // To the compiler, one computed key is wider than the mapped type, although it is exactly that key.
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: string })
}

function kindOf(resource: ResourceInfo, subresource: string | undefined): JsonObject {
  const own = resource.subresources.find((known) => known.name === subresource)
  const { group, version, kind } = own ?? resource
  return { group, version, kind }
}

function resourceOf(resource: ResourceInfo): JsonObject {
  return { group: resource.group, version: resource.version, resource: resource.plural }
}

/** The kind of the options follows the operation, not the verb: a patch is an update or a create. */
function withKind(options: JsonObject, kind: string): JsonObject {
  return { ...options, kind, apiVersion: 'meta.k8s.io/v1' }
}

function copyExtra(extra: Readonly<Record<string, readonly string[]>>): JsonObject {
  return Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]))
}
