/** Converts custom resources between the versions of their definition. */
import { randomUUID } from 'node:crypto'
import { WebhookCallError, type WebhookClient } from '../admission/webhook-client.ts'
import { internalError } from '../api/api-errors.ts'
import { qualifiedNameProblems } from '../api/object-meta.ts'
import { arrayAt, isJsonObject, type JsonObject, type JsonValue, objectAt, stringAt } from '../json.ts'
import { StatusError } from '../status-error.ts'
import type { Definition } from './definition.ts'

/** Dependencies of the converter. */
export interface ConverterOptions {
  readonly client: WebhookClient
  /** The definition of the objects' kind. */
  readonly definitionOfKind: (group: string, kind: string) => Definition | undefined
  /** @default crypto.randomUUID */
  readonly randomUuid?: () => string
}

const REVIEW_VERSION = 'apiextensions.k8s.io/v1'
const TIMEOUT_SECONDS = 30

/**
 * Converts objects of one kind to another version, by the strategy of their definition: `None` only rewrites
 * `apiVersion`, `Webhook` sends one ConversionReview for all objects that need it.
 *
 * *Guarantees*: identity (name, namespace, uid and the rest of `metadata` except labels and annotations) is taken from
 * the original, whatever the webhook returns.
 *
 * *Errors*: StatusError 500 naming the kind when the webhook fails or violates the contract.
 */
export class Converter {
  readonly #options: ConverterOptions
  readonly #randomUuid: () => string

  constructor(options: ConverterOptions) {
    this.#options = options
    this.#randomUuid = options.randomUuid ?? randomUUID
  }

  async convert(objects: readonly JsonObject[], toApiVersion: string, signal: AbortSignal): Promise<JsonObject[]> {
    const pending = objects.filter((object) => object.apiVersion !== toApiVersion)
    const [first] = pending
    if (first === undefined) return [...objects]
    const definition = this.#definition(first, toApiVersion)
    if (stringAt(definition.conversion, 'strategy') !== 'Webhook') {
      return objects.map((object) => ({ ...object, apiVersion: toApiVersion }))
    }
    const converted = await this.#callWebhook(definition, pending, toApiVersion, signal)
    const results = converted.values()
    return objects.map((object) => (object.apiVersion === toApiVersion ? object : (results.next().value ?? object)))
  }

  #definition(object: JsonObject, toApiVersion: string): Definition {
    const [group = ''] = toApiVersion.split('/')
    const definition = this.#options.definitionOfKind(group, String(object.kind))
    if (definition?.versions.some(({ name }) => `${group}/${name}` === toApiVersion) === true) return definition
    const from = `${String(object.apiVersion)}, Kind=${String(object.kind)}`
    throw internalError(`no conversion from ${from} to ${toApiVersion}: the definition does not have that version`)
  }

  async #callWebhook(
    definition: Definition,
    objects: readonly JsonObject[],
    desiredAPIVersion: string,
    signal: AbortSignal,
  ): Promise<readonly JsonObject[]> {
    const uid = this.#randomUuid()
    const review: JsonObject = {
      kind: 'ConversionReview',
      apiVersion: REVIEW_VERSION,
      request: { uid, desiredAPIVersion, objects: [...objects] },
    }
    const [first] = objects
    const kind = `${String(first?.apiVersion)}, Kind=${String(first?.kind)}`
    const failure: ConversionFailure = (why, cause) =>
      new StatusError(500, '', `conversion webhook for ${kind} ${why}`, undefined, { cause })
    const webhook = objectAt(definition.conversion, 'webhook')
    const versions = Array.isArray(webhook.conversionReviewVersions) ? webhook.conversionReviewVersions : []
    if (!versions.includes('v1')) throw failure('failed: the webhook does not accept v1 conversion reviews')
    let response: JsonObject
    try {
      const clientConfig = objectAt(webhook, 'clientConfig')
      response = await this.#options.client.post(clientConfig, review, { timeoutSeconds: TIMEOUT_SECONDS, signal })
    } catch (error) {
      if (error instanceof WebhookCallError) throw failure(`failed: ${error.message}`, error)
      throw error
    }
    return readConversion(response, uid, objects, desiredAPIVersion, failure)
  }
}

/** Creates the error that names the kind; `why` completes "conversion webhook for …". */
type ConversionFailure = (why: string, cause?: unknown) => StatusError

/** The converted objects of a response, in the order of the originals and with their identity. */
function readConversion(
  review: JsonObject,
  uid: string,
  originals: readonly JsonObject[],
  apiVersion: string,
  failure: ConversionFailure,
): readonly JsonObject[] {
  const converted = readResponse(review, uid, failure)
  if (converted.length !== originals.length) {
    throw failure(`returned ${converted.length} objects, expected ${originals.length}`)
  }
  return originals.map((original, index) => {
    const object = converted[index]
    const at = `returned invalid object at index ${index}`
    if (!isJsonObject(object)) throw failure(`${at}: not an object`)
    if (object.apiVersion !== apiVersion) {
      throw failure(
        `${at}: invalid groupVersion (expected ${apiVersion}, received ${stringAt(object, 'apiVersion') ?? ''})`,
      )
    }
    if (object.kind !== original.kind) {
      throw failure(
        `${at}: invalid kind (expected ${String(original.kind)}, received ${stringAt(object, 'kind') ?? ''})`,
      )
    }
    return { ...object, metadata: restoreMetadata(original, object, failure) }
  })
}

function readResponse(review: JsonObject, uid: string, failure: ConversionFailure): readonly JsonValue[] {
  const { response } = review
  if (!isJsonObject(response)) throw failure('failed: no response provided')
  if (review.kind !== 'ConversionReview' || review.apiVersion !== REVIEW_VERSION) {
    const got = `${stringAt(review, 'apiVersion') ?? ''}, Kind=${stringAt(review, 'kind') ?? ''}`
    throw failure(`failed: expected webhook response of ${REVIEW_VERSION}, Kind=ConversionReview, got ${got}`)
  }
  if (response.uid !== uid) {
    const got = JSON.stringify((stringAt(response, 'uid') ?? '').slice(0, 100))
    throw failure(`failed: expected response.uid=${JSON.stringify(uid)}, got ${got}`)
  }
  const result = objectAt(response, 'result')
  const status = stringAt(result, 'status') ?? ''
  if (status !== 'Success') {
    const message = stringAt(result, 'message') || `response.result.status was '${status}', not 'Success'`
    throw failure(`failed: ${message}`)
  }
  return arrayAt(response, 'convertedObjects')
}

/** The original's metadata with the labels and annotations of the conversion. */
function restoreMetadata(original: JsonObject, converted: JsonObject, failure: ConversionFailure): JsonObject {
  const before = objectAt(original, 'metadata')
  const after = objectAt(converted, 'metadata')
  for (const [field, label] of identity) {
    const was = stringAt(before, field) ?? ''
    const is = stringAt(after, field) ?? ''
    if (was !== is) throw failure(`returned invalid object: must have the same ${label}: ${was} != ${is}`)
  }
  const restored: JsonObject = { ...before }
  for (const field of ['labels', 'annotations']) {
    const value = after[field]
    if (value === undefined || value === null) {
      delete restored[field]
      continue
    }
    const problem = isJsonObject(value) ? textMapProblem(value, field) : `metadata.${field} must be a map`
    if (problem !== undefined) throw failure(`returned invalid metadata: ${problem} in converted object`)
    restored[field] = value
  }
  return restored
}

const identity = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const

function textMapProblem(map: JsonObject, field: string): string | undefined {
  for (const [key, value] of Object.entries(map)) {
    if (typeof value !== 'string') return `metadata.${field}[${key}] must be a string, but is ${typeof value}`
    const [problem] = qualifiedNameProblems(field === 'annotations' ? key.toLowerCase() : key)
    if (problem !== undefined) return `metadata.${field}: Invalid value: ${JSON.stringify(key)}: ${problem}`
  }
  return undefined
}
