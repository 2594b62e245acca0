/** The route that converts custom resources between their versions. */
import { setImmediate } from 'node:timers/promises'
import { redactText } from '@reeve/http'
import type { KubeObject } from '@reeve/kube'
import {
  BadReviewError,
  freezeJson,
  objectProblem,
  readRequest,
  shortened,
  type WebhookRoute,
} from './webhook-route.ts'

const API_VERSION = 'apiextensions.k8s.io/v1'
const KIND = 'ConversionReview'

/** Longest part of a converter's message, or of anything else in a message, that is passed on. */
const MAX_MESSAGE_LENGTH = 1_000

/**
 * After this time the event loop runs other requests: the API server converts a whole list in one review. Usual lists end
 * before. Taking turns more often lets all reviews in progress end late and together, and keeps their objects in memory
 * for so long that the garbage collector has to copy them.
 */
const TURN_MS = 1

/** One kind and how its objects become another version. `defineConversion` of `@reeve/crd` makes typed converters. */
export interface KindConversion {
  readonly group: string
  readonly kind: string
  /** The object in `toVersion` (such as `v1beta1`). Must not change the given one, which is frozen. */
  readonly convert: (object: KubeObject, toVersion: string) => KubeObject | Promise<KubeObject>
}

/**
 * A conversion webhook for one or more kinds.
 *
 * *Guarantees*: results come in the order of the objects; metadata other than labels and annotations is that of the
 * original, as the API server demands; one failure fails the whole review with a message that names the object.
 *
 * @example
 * const convert = defineConversion(WebAppCrd, 'v1', { v1beta1: { toHub, fromHub } })
 * const route = conversionWebhook('/convert', [{ group: 'example.com', kind: 'WebApp', convert }])
 */
export function conversionWebhook(path: string, conversions: readonly KindConversion[]): WebhookRoute {
  const byKind = new Map(conversions.map((conversion) => [`${conversion.group}/${conversion.kind}`, conversion]))
  return {
    path,
    converts: conversions.map(({ group, kind }) => ({ group, kind })),
    respond: async (body, signal) => {
      const { uid, desiredAPIVersion, objects } = readRequest(body, API_VERSION, KIND)
      if (typeof desiredAPIVersion !== 'string' || !Array.isArray(objects)) {
        throw new BadReviewError(400, `the ${KIND} has no request.desiredAPIVersion or request.objects`)
      }
      const convertOne = converterTo(byKind, desiredAPIVersion)
      const converted: KubeObject[] = []
      let turnStartMs = performance.now()
      for (const [index, object] of objects.entries()) {
        if (performance.now() - turnStartMs > TURN_MS) {
          await setImmediate()
          turnStartMs = performance.now()
        }
        signal.throwIfAborted()
        const problem = objectProblem(`request.objects[${index}]`, object)
        if (problem !== undefined) return failed(uid, shortened(problem, MAX_MESSAGE_LENGTH))
        // Checked just now.
        const original = freezeJson(object as KubeObject)
        try {
          const result = convertOne(original)
          converted.push(withMetadataOf(original, result instanceof Promise ? await result : result, desiredAPIVersion))
        } catch (error) {
          signal.throwIfAborted()
          return failed(uid, describe(original, desiredAPIVersion, error))
        }
      }
      return review({ uid, convertedObjects: converted, result: { status: 'Success' } })
    },
    refuse: (body, { message }) => failed(readRequest(body, API_VERSION, KIND).uid, message),
  }
}

function converterTo(
  byKind: ReadonlyMap<string, KindConversion>,
  desiredAPIVersion: string,
): (object: KubeObject) => KubeObject | Promise<KubeObject> {
  const [group, version, ...rest] = desiredAPIVersion.split('/')
  return (object) => {
    const conversion = byKind.get(`${group}/${object.kind}`)
    if (conversion === undefined || !version || rest.length > 0) throw new Error('this webhook does not convert it')
    return conversion.convert(object, version)
  }
}

/** The result of a converter with all that a conversion must not change. */
function withMetadataOf({ kind, metadata }: KubeObject, converted: KubeObject, desiredAPIVersion: string): KubeObject {
  const { labels, annotations } = converted.metadata
  const { labels: _labels, annotations: _annotations, ...kept } = metadata
  return {
    ...converted,
    apiVersion: desiredAPIVersion,
    kind,
    metadata: { ...kept, ...(labels && { labels }), ...(annotations && { annotations }) },
  }
}

function describe({ apiVersion, kind, metadata }: KubeObject, desiredAPIVersion: string, error: unknown): string {
  const { namespace, name } = metadata
  const why = redactText(error instanceof Error ? error.message : String(error))
  const [what, key, from, to, reason] = [
    kind,
    `${namespace === undefined ? '' : `${namespace}/`}${name ?? ''}`,
    apiVersion,
    desiredAPIVersion,
    why,
  ].map((text) => shortened(text, MAX_MESSAGE_LENGTH))
  return `cannot convert ${what} ${key} from ${from} to ${to}: ${reason}`
}

function failed(uid: string, message: string): object {
  return review({ uid, convertedObjects: [], result: { status: 'Failure', message } })
}

function review(response: object): object {
  return { apiVersion: API_VERSION, kind: KIND, response }
}
