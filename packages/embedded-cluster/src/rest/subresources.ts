/** Subresources other than views of the object: scale, eviction, binding, token, log, exec. */

import { badRequest, methodNotAllowed, notFound } from '../api/api-errors.ts'
import { newUid } from '../api/object-meta.ts'
import { DEFAULT_TOKEN_SECONDS } from '../auth/token-request.ts'
import { cloneJson, type JsonObject, objectAt } from '../json.ts'
import { groupResource, type ResourceInfo } from '../registry/resource-info.ts'
import type { ParsedBody } from '../schema/parse.ts'
import type { ByteChannel } from '../spdy/connection.ts'
import { StatusError } from '../status-error.ts'
import type { WebSocketSession } from '../web-socket/handshake.ts'
import { admitMutating, admitValidating } from './admit.ts'
import type { WriteRequest } from './context.ts'
import { decodeObject, requireKind, requireObject } from './decode-object.ts'
import { readLog } from './pod-log.ts'
import { bind, evict } from './pod-subresources.ts'
import type { RequestInfo } from './request-info.ts'
import { scale } from './scale.ts'
import type { ServerContext } from './server-context.ts'
import { changeObject } from './update.ts'
import { trackVirtual } from './virtual-objects.ts'

/** A request to a subresource. */
export interface SubresourceCall {
  readonly verb: RequestInfo['verb']
  readonly query: URLSearchParams
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The protocol that the client wants to continue with, in lower case. */
  readonly upgrade?: string | undefined
  /** Parses the body; rejects when it is missing or malformed. */
  readonly body: () => Promise<ParsedBody>
  readonly mediaType: string
}

/** An object with its HTTP status, lines of text, an empty response, or a session on a WebSocket or by SPDY. */
export type SubresourceResult =
  | { readonly status: number; readonly object: JsonObject }
  | { readonly text: AsyncIterable<string> | Iterable<string> }
  | { readonly isEmpty: true }
  | { readonly protocol: string; readonly session: WebSocketSession }
  | { readonly protocol: string; readonly spdySession: (channel: ByteChannel) => Promise<void> }

/** Handles a request to a subresource. */
export type SubresourceHandler = (
  context: ServerContext,
  request: WriteRequest,
  call: SubresourceCall,
) => Promise<SubresourceResult>

const handlers: Readonly<Record<string, SubresourceHandler>> = {
  '*/scale': scale,
  'pods/binding': bind,
  'pods/eviction': evict,
  'pods/log': readLog,
  'namespaces/finalize': finalizeNamespace,
  'serviceaccounts/token': createToken,
  'pods/exec': streamToPod,
  'pods/attach': streamToPod,
  'pods/portforward': streamToPod,
  '*/proxy': notProxied,
}

/** Imported when first used: most clusters never serve the protocols of these streams. */
async function streamToPod(...call: Parameters<SubresourceHandler>): Promise<SubresourceResult> {
  const streams = await import('./pod-streams.ts')
  return streams.streamToPod(...call)
}

/** The handler of a subresource; `undefined` when it is a plain view such as `status`. */
export function findSubresource(info: ResourceInfo, name: string | undefined): SubresourceHandler | undefined {
  if (name === undefined) return undefined
  return handlers[`${groupResource(info)}/${name}`] ?? handlers[`*/${name}`]
}

/** Replaces a namespace's `spec.finalizers`; removing the last one deletes the namespace. */
async function finalizeNamespace(
  context: ServerContext,
  request: WriteRequest,
  call: SubresourceCall,
): Promise<SubresourceResult> {
  if (call.verb !== 'update') throw methodNotAllowed()
  const wanted = decodeObject(context, request, await call.body())
  const given = String(objectAt(wanted, 'metadata').name ?? '')
  if (given !== request.name) {
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${request.name})`)
  }
  const { finalizers } = objectAt(wanted, 'spec')
  const object = await changeObject(context, request, {
    compute: (live) => {
      const draft = cloneJson(live)
      draft.spec = { ...objectAt(draft, 'spec') }
      if (Array.isArray(finalizers) && finalizers.length > 0) objectAt(draft, 'spec').finalizers = finalizers
      else delete objectAt(draft, 'spec').finalizers
      objectAt(draft, 'metadata').resourceVersion = objectAt(wanted, 'metadata').resourceVersion
      return { object: draft, tracked: false }
    },
  })
  return { status: 200, object }
}

const tokenRequestKind = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' }

/** Issues a token for a service account. */
async function createToken(
  context: ServerContext,
  request: WriteRequest,
  call: SubresourceCall,
): Promise<SubresourceResult> {
  const { info, name = '', namespace } = request
  const body = requireObject((await call.body()).value)
  requireKind(context.registry, body, tokenRequestKind)
  const draft = {
    ...body,
    metadata: { ...objectAt(body, 'metadata'), namespace },
    spec: { expirationSeconds: DEFAULT_TOKEN_SECONDS, ...objectAt(body, 'spec') },
  }
  const sent = trackVirtual(context, request, tokenRequestKind, draft)
  const offered = await admitMutating(context, request, { operation: 'CREATE', object: sent, oldObject: undefined })
  const account = context.store.get('serviceaccounts', `${namespace}/${name}`)?.object
  if (account === undefined) throw notFound(info, name)
  const issued = await context.issueToken(account, offered, request)
  const metadata = { ...objectAt(issued, 'metadata'), uid: newUid(context.random) }
  // Validating admission sees everything except the token itself.
  const { managedFields } = objectAt(offered, 'metadata')
  const visible = { ...issued, metadata: { ...metadata, managedFields }, status: objectAt(sent, 'status') }
  await admitValidating(context, request, { operation: 'CREATE', object: visible, oldObject: undefined })
  return { status: 201, object: { ...issued, metadata } }
}

async function notProxied(): Promise<SubresourceResult> {
  throw notImplemented('proxying to pods, services and nodes')
}

function notImplemented(what: string): StatusError {
  return new StatusError(501, 'NotImplemented', `the embedded cluster does not implement ${what}`)
}
