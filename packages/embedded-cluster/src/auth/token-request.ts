/** Handles `POST serviceaccounts/{name}/token`: issues a token for a service account. */

import { badRequest, conflict, invalid, notFound } from '../api/api-errors.ts'
import type { ClusterApi } from '../api/cluster-api.ts'
import { type Clock, timestamp } from '../clock.ts'
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../json.ts'
import type { FieldError } from '../status-error.ts'
import type { BoundObject, ServiceAccountTokens } from './service-account-tokens.ts'

/** Dependencies of the handler. */
export interface TokenRequestOptions {
  readonly api: Pick<ClusterApi, 'get'>
  readonly clock: Clock
  readonly tokens: ServiceAccountTokens
}

/** Issues a token for `serviceAccount` according to `tokenRequest`. */
export type IssueToken = (serviceAccount: JsonObject, tokenRequest: JsonObject) => JsonObject

const API_GROUP = 'authentication.k8s.io'
/** The default validity of a token. */
export const DEFAULT_TOKEN_SECONDS = 3600
const MIN_SECONDS = 600
const MAX_SECONDS = 2 ** 32
const boundPlurals = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' } as const

/**
 * The handler of TokenRequests. The response contains the token, its expiry, and defaults for omitted fields.
 *
 * *Errors*: 422 for a lifetime out of range, 404 or 409 for a bound object that is missing or has another uid.
 */
export function createTokenIssuer(options: TokenRequestOptions): IssueToken {
  const { clock, tokens } = options
  return (serviceAccount, tokenRequest) => {
    const account = objectAt(serviceAccount, 'metadata')
    const subject = {
      namespace: stringAt(account, 'namespace') ?? '',
      name: stringAt(account, 'name') ?? '',
      uid: stringAt(account, 'uid') ?? '',
    }
    const spec = objectAt(tokenRequest, 'spec')
    checkNames(tokenRequest, subject)
    const expirationSeconds = readLifetime(spec)
    const asked = arrayAt(spec, 'audiences').map(String)
    const audiences = asked.length === 0 ? tokens.audiences : asked
    const bound = findBound(options, subject, spec)
    const { token, expirationMs } = tokens.issue(subject, { expirationSeconds, audiences, ...bound })
    return {
      kind: 'TokenRequest',
      apiVersion: `${API_GROUP}/v1`,
      metadata: { name: subject.name, namespace: subject.namespace, creationTimestamp: timestamp(clock.now()) },
      spec: {
        audiences: [...audiences],
        expirationSeconds,
        boundObjectRef: isJsonObject(spec.boundObjectRef) ? spec.boundObjectRef : null,
      },
      status: { token, expirationTimestamp: timestamp(expirationMs) },
    }
  }
}

function checkNames(tokenRequest: JsonObject, subject: { namespace: string; name: string }): void {
  const metadata = objectAt(tokenRequest, 'metadata')
  const name = stringAt(metadata, 'name') ?? ''
  const namespace = stringAt(metadata, 'namespace') ?? ''
  if (namespace !== '' && namespace !== subject.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  if (name === '' || name === subject.name) return
  const message = `Invalid value: ${JSON.stringify(name)}: must match the service account name if specified`
  refuse(subject.name, { field: 'metadata.name', reason: 'FieldValueInvalid', message })
}

function readLifetime(spec: JsonObject): number {
  const seconds = spec.expirationSeconds ?? DEFAULT_TOKEN_SECONDS
  const field = 'spec.expirationSeconds'
  const wrong = (why: string) =>
    refuse('', { field, reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(seconds)}: ${why}` })
  if (typeof seconds !== 'number' || seconds < MIN_SECONDS)
    return wrong('may not specify a duration less than 10 minutes')
  if (seconds > MAX_SECONDS) return wrong('may not specify a duration larger than 2^32 seconds')
  return seconds
}

function refuse(name: string, error: FieldError): never {
  throw invalid({ group: API_GROUP, kind: 'TokenRequest' }, name, [error])
}

/** The object to bind the token to, and the node if it is a pod. */
function findBound(
  { api }: TokenRequestOptions,
  subject: { namespace: string; name: string },
  spec: JsonObject,
): { boundObject?: BoundObject; node?: { name: string; uid: string } } {
  const { boundObjectRef: reference } = spec
  if (!isJsonObject(reference)) return {}
  const { kind, name = '', uid } = reference
  if ((kind !== 'Pod' && kind !== 'Secret' && kind !== 'Node') || reference.apiVersion !== 'v1') {
    throw badRequest(
      `cannot bind token to object of type /${String(reference.apiVersion ?? '')}, Kind=${String(kind ?? '')}`,
    )
  }
  const plural = boundPlurals[kind]
  const object = api.get(plural, kind === 'Node' ? undefined : subject.namespace, String(name))
  if (object === undefined) throw notFound({ group: '', plural }, String(name))
  const actual = stringAt(objectAt(object, 'metadata'), 'uid') ?? ''
  if (typeof uid === 'string' && uid !== '' && uid !== actual) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`
    throw conflict({ group: '', plural }, String(name), why)
  }
  const boundObject = { kind, name: String(name), uid: actual } as const
  if (kind !== 'Pod') return { boundObject }
  const pod = objectAt(object, 'spec')
  if ((stringAt(pod, 'serviceAccountName') ?? 'default') !== subject.name) {
    const account = JSON.stringify(subject.name)
    throw badRequest(
      `cannot bind token for serviceaccount ${account} to pod running with different serviceaccount name.`,
    )
  }
  const nodeName = stringAt(pod, 'nodeName') ?? ''
  const node = nodeName === '' ? undefined : api.get('nodes', undefined, nodeName)
  if (node === undefined) return { boundObject }
  return { boundObject, node: { name: nodeName, uid: stringAt(objectAt(node, 'metadata'), 'uid') ?? '' } }
}
