/** Handles a request on a resource: finds it, checks the verb, executes it and renders the result. */

import {
  badRequest,
  methodNotAllowed,
  notFound,
  PageNotFound,
  resourceNotFound,
  unsupportedPatchType,
} from '../api/api-errors.ts'
import { nameOf } from '../api/object-meta.ts'
import type { UserInfo } from '../api/user.ts'
import { objectAt } from '../json.ts'
import type { ProtobufDecoder } from '../protobuf/decoder.ts'
import { groupResource, type ResourceInfo, subresource } from '../registry/resource-info.ts'
import type { WriteRequest } from '../rest/context.ts'
import { createObject } from '../rest/create.ts'
import { decodeObject } from '../rest/decode-object.ts'
import { deleteObject, parseDeleteOptions } from '../rest/delete.ts'
import { deleteCollection } from '../rest/delete-collection.ts'
import { getObject, listObjects } from '../rest/list.ts'
import { patchObject, patchTypes, refuseForce } from '../rest/patch.ts'
import { bindPod, success } from '../rest/pod-subresources.ts'
import { replaceObject } from '../rest/replace.ts'
import { isTrue, type RequestInfo } from '../rest/request-info.ts'
import { recordOwnership } from '../rest/schema-steps.ts'
import type { ServerContext } from '../rest/server-context.ts'
import { findSubresource } from '../rest/subresources.ts'
import { admitVirtual } from '../rest/virtual-objects.ts'
import { watchObjects } from '../rest/watch.ts'
import type { ParsedBody } from '../schema/parse.ts'
import { requestedUpgrade } from '../web-socket/handshake.ts'
import type { ServerRequest, ServerResponse } from './exchange.ts'
import { negotiate, wantsPretty } from './negotiation.ts'
import type { Renderer, RenderTarget } from './render.ts'
import { acceptedTypes, customTypes, mediaType, parseBody, parseOptionsBody, parsePatch } from './request-body.ts'
import { deletedStatus, empty, json } from './response.ts'
import { readWriteRequest, requireName } from './write-request.ts'

/** One resolved request. */
export interface ResourceExchange {
  readonly request: ServerRequest
  readonly path: RequestInfo
  readonly info: ResourceInfo
  readonly user: UserInfo
  readonly warn: (message: string) => void
  readonly signal: AbortSignal
}

/** Serves resources. */
export class ResourceHandler {
  readonly #context: ServerContext
  readonly #renderer: Renderer
  readonly #protobuf: ProtobufDecoder

  constructor(context: ServerContext, renderer: Renderer, protobuf: ProtobufDecoder) {
    this.#context = context
    this.#protobuf = protobuf
    this.#renderer = renderer
  }

  /** The resource of a path; throws the error of the real server when the resource or verb does not exist. */
  resolve(path: RequestInfo): ResourceInfo {
    const info = this.#context.registry.lookup(path.group, path.version, path.resource)
    if (info === undefined) {
      // Unknown groups and groups of custom resources respond with plain text, built-in groups with a Status.
      throw this.#context.registry.hasBuiltInGroup(path.group) ? resourceNotFound() : new PageNotFound()
    }
    if (path.namespace !== undefined && !info.namespaced) throw resourceNotFound()
    if (path.subresource !== undefined) {
      const found = subresource(info, path.subresource)
      if (found === undefined) throw info.custom ? notFound(info, path.name ?? '') : resourceNotFound()
      if (!found.verbs.includes(path.verb)) throw methodNotAllowed()
      return info
    }
    if (!info.verbs.includes(path.verb)) throw methodNotAllowed()
    requireShape(path, info)
    return info
  }

  async handle(exchange: ResourceExchange): Promise<ServerResponse> {
    const { request, path, info, warn, signal, user } = exchange
    if (info.deprecationWarning !== undefined) warn(info.deprecationWarning)
    const target: RenderTarget = {
      info,
      // Reviews are not stored and have no columns.
      negotiated: negotiate(
        request.headers.accept,
        path.verb === 'watch',
        !this.#context.virtualCreates.has(groupResource(info)),
      ),
      includeObject: includeObject(path),
      pretty: wantsPretty(request.headers, path.query),
    }
    switch (path.verb) {
      case 'list':
        return this.#renderer.list(
          target,
          await listObjects(this.#context, info, path.namespace, path.query, signal),
          signal,
        )
      case 'watch':
        return this.#watch(exchange, target)
    }
    const special = findSubresource(info, path.subresource)
    if (path.verb === 'get' && special === undefined) return this.#get(exchange, target)
    const write = readWriteRequest(request, path, info, user, warn, signal)
    if (special !== undefined) {
      const result = await special(this.#context, write, {
        verb: path.verb,
        query: path.query,
        headers: request.headers,
        upgrade: request.upgrade ?? requestedUpgrade(request.headers),
        body: () => this.#body(exchange),
        mediaType: mediaType(request),
      })
      if ('isEmpty' in result) return empty(204)
      if ('text' in result) return streamText(result.text)
      if ('session' in result || 'spdySession' in result) {
        const { switchToSpdy, switchToWebSocket } = await import('./upgrade-response.ts')
        if ('session' in result) return switchToWebSocket(request, result.protocol, result.session)
        return switchToSpdy(request, result.protocol, result.spdySession)
      }
      return this.#renderer.object(
        result.status,
        { ...target, negotiated: { ...target.negotiated, as: undefined } },
        result.object,
      )
    }
    return this.#write(exchange, target, write)
  }

  async #body({ request, path, info }: ResourceExchange): Promise<ParsedBody> {
    if (path.verb === 'patch') {
      if (patchTypes[mediaType(request)] === undefined) throw unsupportedPatchType()
      return parsePatch(request)
    }
    return parseBody(request, this.#protobuf, info.kind, info.custom ? customTypes : acceptedTypes)
  }

  async #get(exchange: ResourceExchange, target: RenderTarget): Promise<ServerResponse> {
    const { path, info, signal } = exchange
    const stored = await getObject(this.#context, info, path.namespace, requireName(path), path.query, signal)
    return this.#renderer.stored(target, stored, signal)
  }

  async #watch(exchange: ResourceExchange, target: RenderTarget): Promise<ServerResponse> {
    const { path, info, signal } = exchange
    const view = this.#renderer.watch(target, signal)
    const opened = await watchObjects(this.#context, info, path, path.query, view, signal)
    return {
      status: 200,
      headers: { 'cache-control': 'no-cache, private', 'content-type': 'application/json' },
      body: opened.body,
    }
  }

  async #write(exchange: ResourceExchange, target: RenderTarget, write: WriteRequest): Promise<ServerResponse> {
    const { request, path, info } = exchange
    switch (path.verb) {
      case 'create':
        return this.#create(exchange, target, write)
      case 'update': {
        const replaced = await replaceObject(this.#context, write, await this.#body(exchange))
        return this.#renderer.object(replaced.created ? 201 : 200, target, replaced.object)
      }
      case 'patch': {
        const body = await this.#body(exchange)
        if (path.query.has('force') && patchTypes[mediaType(request)] !== 'apply') refuseForce()
        const options = {
          mediaType: mediaType(request),
          force: isTrue(path.query.get('force')),
          hasFieldManager: (path.query.get('fieldManager') ?? '') !== '',
        }
        const result = await patchObject(this.#context, write, body, options)
        return this.#renderer.object(result.created ? 201 : 200, target, result.object)
      }
      case 'delete':
        return this.#delete(exchange, target, write)
      case 'deletecollection': {
        const options = parseDeleteOptions(await parseOptionsBody(request, this.#protobuf), path.query)
        const deleted = await deleteCollection(this.#context, write, options, path.query)
        const metadata = { resourceVersion: String(this.#context.store.revision) }
        return json(200, this.#renderer.objects({ ...target, info }, deleted, metadata))
      }
      default:
        throw methodNotAllowed()
    }
  }

  async #create(exchange: ResourceExchange, target: RenderTarget, write: WriteRequest): Promise<ServerResponse> {
    const { info } = exchange
    const body = await this.#body(exchange)
    const virtual = this.#context.virtualCreates.get(groupResource(info))
    if (virtual !== undefined) {
      const object = recordOwnership(this.#context, write, decodeObject(this.#context, write, body), undefined)
      const result = await virtual(await admitVirtual(this.#context, write, object), write)
      return this.#renderer.object(201, target, result)
    }
    const object = decodeObject(this.#context, write, body)
    if (groupResource(info) === 'bindings') {
      const pods = this.#context.registry.lookup('', 'v1', 'pods') ?? info
      const named = { ...write, name: nameOf(object) }
      await bindPod(this.#context, { ...named, info: pods, subresource: 'binding' }, object, named)
      return this.#renderer.object(201, target, success(201))
    }
    return this.#renderer.object(201, target, await createObject(this.#context, write, object))
  }

  async #delete(exchange: ResourceExchange, target: RenderTarget, write: WriteRequest): Promise<ServerResponse> {
    const { request, path, info } = exchange
    const body = await parseOptionsBody(request, this.#protobuf)
    const isDryRun = write.dryRun || (Array.isArray(body?.dryRun) && body.dryRun.includes('All'))
    const options = parseDeleteOptions(body, path.query)
    const deletion = await deleteObject(
      this.#context,
      { ...write, dryRun: isDryRun, options: { ...write.options, ...body } },
      options,
    )
    const returnsObject = this.#context.strategyOf(info).returnsDeletedObject === true
    if (deletion.isGone && !returnsObject) {
      const uid = String(objectAt(deletion.object, 'metadata').uid)
      return this.#renderer.object(200, target, deletedStatus(info, nameOf(deletion.object), uid))
    }
    const isAccepted = !deletion.isGone && body?.orphanDependents === false
    return this.#renderer.object(isAccepted ? 202 : 200, target, deletion.object)
  }
}

/** Rejects a verb on a path of the wrong shape, such as POST to an object. */
function requireShape(path: RequestInfo, info: ResourceInfo): void {
  const isForObject = path.verb === 'update' || path.verb === 'patch'
  if (path.name === undefined && isForObject)
    throw info.custom ? badRequest('name must be provided') : methodNotAllowed()
  if (path.name !== undefined && path.verb === 'create' && !info.custom) throw methodNotAllowed()
  const isAcrossNamespaces = info.namespaced && path.namespace === undefined
  if (isAcrossNamespaces && path.verb !== 'list' && path.verb !== 'watch') {
    throw path.name === undefined ? methodNotAllowed() : resourceNotFound()
  }
}

async function* encodeLines(lines: AsyncIterable<string> | Iterable<string>): AsyncGenerator<Uint8Array> {
  for await (const line of lines) yield Buffer.from(line)
}

function streamText(lines: AsyncIterable<string> | Iterable<string>): ServerResponse {
  return {
    status: 200,
    headers: { 'cache-control': 'no-cache, private', 'content-type': 'text/plain' },
    body: encodeLines(lines),
  }
}

function includeObject(path: RequestInfo): string {
  const value = path.query.get('includeObject') ?? ''
  if (['', 'Metadata', 'Object', 'None'].includes(value)) return value === '' ? 'Metadata' : value
  const problem = `includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`
  throw badRequest(`Unable to convert to Table as requested: ${problem}`)
}
