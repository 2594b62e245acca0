/** Converts custom resources between the versions of their definition. */
import { randomUUID } from 'node:crypto'
import { WebhookCallError, type WebhookClient } from '../admission/webhook-client.ts'
import { isJsonObject, type JsonObject, objectAt, stringAt } from '../json.ts'
import { internalError } from '../rest/api-errors.ts'
import { StatusError } from '../status-error.ts'
import type { Definition } from './definition.ts'

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
 * `apiVersion`, `Webhook` asks with one ConversionReview for all objects that need it.
 *
 * *Guarantees*: identity (name, namespace, uid and the rest of `metadata` but labels and annotations) comes from the
 * original, whatever the webhook answers.
 *
 * *Errors*: StatusError 500 naming the kind when the webhook fails or breaks the contract.
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
    const converted = await this.#ask(definition, pending, toApiVersion, signal)
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

  async #ask(
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
    const failed = (why: string, cause?: unknown) => {
      const kind = `${String(first?.apiVersion)}, Kind=${String(first?.kind)}`
      return new StatusError(500, '', `conversion webhook for ${kind} failed: ${why}`, undefined, { cause })
    }
    const webhook = objectAt(definition.conversion, 'webhook')
    const versions = Array.isArray(webhook.conversionReviewVersions) ? webhook.conversionReviewVersions : []
    if (!versions.includes('v1')) throw failed('the webhook does not accept v1 conversion reviews')
    let answer: JsonObject
    try {
      const clientConfig = objectAt(webhook, 'clientConfig')
      answer = await this.#options.client.post(clientConfig, review, { timeoutSeconds: TIMEOUT_SECONDS, signal })
    } catch (error) {
      if (error instanceof WebhookCallError) throw failed(error.message, error)
      throw error
    }
    return readConversion(answer, uid, objects, desiredAPIVersion, failed)
  }
}

/** The converted objects in an answer, in the order of the originals and with their identity. */
function readConversion(
  answer: JsonObject,
  uid: string,
  originals: readonly JsonObject[],
  apiVersion: string,
  failed: (why: string) => StatusError,
): readonly JsonObject[] {
  if (answer.kind !== 'ConversionReview' || answer.apiVersion !== REVIEW_VERSION) {
    const got = `${String(answer.apiVersion ?? '')}, Kind=${String(answer.kind ?? '')}`
    throw failed(`expected webhook response of ${REVIEW_VERSION}, Kind=ConversionReview, got ${got}`)
  }
  const { response } = answer
  if (!isJsonObject(response)) throw failed('no response provided')
  if (response.uid !== uid) {
    const got = JSON.stringify(String(response.uid ?? '').slice(0, 100))
    throw failed(`expected response.uid=${JSON.stringify(uid)}, got ${got}`)
  }
  const result = objectAt(response, 'result')
  if (result.status !== 'Success') {
    throw failed(stringAt(result, 'message') ?? 'unknown error: the webhook gave no message')
  }
  const converted = Array.isArray(response.convertedObjects) ? response.convertedObjects : []
  if (converted.length !== originals.length) {
    throw failed(`returned ${converted.length} objects, expected ${originals.length}`)
  }
  return originals.map((original, index) => {
    const at = `converted object at index ${index}`
    const object = converted[index]
    if (!isJsonObject(object)) throw failed(`invalid ${at}: not an object`)
    if (object.apiVersion !== apiVersion) {
      throw failed(`invalid groupVersion for ${at}: expected ${apiVersion}, got ${String(object.apiVersion)}`)
    }
    if (object.kind !== original.kind) {
      throw failed(`invalid kind for ${at}: expected ${String(original.kind)}, got ${String(object.kind)}`)
    }
    return {
      ...object,
      metadata: restoreMetadata(original, object, (why) => failed(`invalid metadata for ${at}: ${why}`)),
    }
  })
}

/** The original's metadata with the labels and annotations of the conversion. */
function restoreMetadata(
  original: JsonObject,
  converted: JsonObject,
  failed: (why: string) => StatusError,
): JsonObject {
  const before = objectAt(original, 'metadata')
  const { metadata } = converted
  if (!isJsonObject(metadata)) throw failed('metadata is missing')
  for (const field of ['name', 'namespace', 'uid']) {
    if ((metadata[field] ?? '') === (before[field] ?? '')) continue
    throw failed(
      `${field} must stay ${JSON.stringify(before[field] ?? '')}, got ${JSON.stringify(metadata[field] ?? '')}`,
    )
  }
  const restored: JsonObject = { ...before }
  for (const field of ['labels', 'annotations']) {
    const value = metadata[field]
    if (value === undefined || value === null) delete restored[field]
    else if (isTextMap(value)) restored[field] = value
    else throw failed(`${field} must be a map of strings`)
  }
  return restored
}

function isTextMap(value: unknown): value is JsonObject {
  return isJsonObject(value) && Object.values(value).every((text) => typeof text === 'string')
}
