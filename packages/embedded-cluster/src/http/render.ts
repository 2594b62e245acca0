/** Encodes objects, lists and watch events in the negotiated representation. */

import { nameOf, namespaceOf } from '../api/object-meta.ts'
import { isJsonObject, type JsonObject, objectAt } from '../json.ts'
import { apiVersionOf, type ResourceInfo, storageKey } from '../registry/resource-info.ts'
import { type RestContext, toVersion } from '../rest/context.ts'
import type { ListResult } from '../rest/list.ts'
import type { WatchView } from '../rest/watch.ts'
import { StatusError } from '../status-error.ts'
import { watchLine } from '../store/event-log.ts'
import { objectKey, type StoredObject } from '../store/stored-object.ts'
import type { ServerResponse } from './exchange.ts'
import type { Negotiated } from './negotiation.ts'
import { CompleteBody, complete, type Headers, yaml } from './response.ts'

const encoder = new TextEncoder()

/** Converts objects to the rows of a Table. */
export interface TablePrinter {
  /** A whole Table for `objects`; `withColumns` is false for every watch event but the first. */
  table(
    info: ResourceInfo,
    objects: readonly JsonObject[],
    options: { readonly includeObject: string; readonly version: string; readonly withColumns: boolean },
  ): JsonObject
}

/** Inputs of rendering besides the object. */
export interface RenderTarget {
  readonly info: ResourceInfo
  readonly negotiated: Negotiated
  readonly includeObject: string
  readonly pretty: boolean
}

/** The renderer of one server. */
export class Renderer {
  readonly #context: RestContext
  readonly #printer: TablePrinter

  constructor(context: RestContext, printer: TablePrinter) {
    this.#context = context
    this.#printer = printer
  }

  /** One object that is already in the version of the request. */
  async object(status: number, target: RenderTarget, object: JsonObject, headers?: Headers): Promise<ServerResponse> {
    const stored = this.#storedForm(target.info, object)
    if (stored !== undefined && isPlain(target)) return plainObject(status, stored)
    return this.#respond(status, target, this.#transform(target, object), headers)
  }

  /** One stored object; its cached JSON is sent unchanged where possible. */
  async stored(target: RenderTarget, stored: StoredObject, signal: AbortSignal): Promise<ServerResponse> {
    const apiVersion = apiVersionOf(target.info)
    if (isPlain(target) && stored.object.apiVersion === apiVersion) return plainObject(200, stored)
    const object = await toVersion(this.#context, stored.object, apiVersion, signal)
    return this.object(200, target, object)
  }

  /** A page of a collection. */
  async list(target: RenderTarget, list: ListResult, signal: AbortSignal): Promise<ServerResponse> {
    const { info } = target
    // Lists of custom resources always have the field, like the real server's untyped lists.
    const token = list.continue ?? (info.custom && target.negotiated.as === undefined ? '' : undefined)
    const metadata: JsonObject = {
      ...(token === undefined ? {} : { continue: token }),
      resourceVersion: String(list.revision),
      ...(list.remainingItemCount === undefined ? {} : { remainingItemCount: list.remainingItemCount }),
    }
    const apiVersion = apiVersionOf(info)
    const isStoredForm = list.items.every((stored) => stored.object.apiVersion === apiVersion)
    if (isPlain(target) && isStoredForm) {
      return {
        status: 200,
        headers: { 'cache-control': 'no-cache, private', 'content-type': 'application/json' },
        body: new CompleteBody([concatenate(listChunks(info, metadata, list.items))]),
      }
    }
    const stored = list.items.map((item) => item.object)
    const objects = isStoredForm ? stored : await this.#context.converter.convert(stored, apiVersion, signal)
    return this.#respond(200, target, this.objects(target, objects, metadata))
  }

  /** A list of objects that are already in the version of the request. */
  objects(target: RenderTarget, objects: readonly JsonObject[], metadata: JsonObject): JsonObject {
    const { negotiated, info, includeObject } = target
    if (negotiated.as === 'Table') {
      const options = { includeObject, version: negotiated.asVersion, withColumns: true }
      return { ...this.#printer.table(info, objects, options), metadata }
    }
    if (negotiated.as === 'PartialObjectMetadata') {
      throw wrongShape(`you requested PartialObjectMetadata, but the requested object is a list (${goType(info)}List)`)
    }
    const apiVersion = `meta.k8s.io/${negotiated.asVersion}`
    if (negotiated.as !== undefined) {
      return {
        kind: 'PartialObjectMetadataList',
        apiVersion,
        metadata,
        items: objects.map((object) => partial(object, apiVersion)),
      }
    }
    const items = info.custom ? [...objects] : objects.map(({ kind: _, apiVersion: __, ...rest }) => rest)
    return { kind: info.listKind, apiVersion: apiVersionOf(info), metadata, items }
  }

  /** How a watch encodes its events. */
  watch(target: RenderTarget, signal: AbortSignal): WatchView {
    const { negotiated, info, includeObject } = target
    const apiVersion = apiVersionOf(info)
    const asVersion = `meta.k8s.io/${negotiated.asVersion}`
    let isFirst = true
    const render = (object: JsonObject): JsonObject => {
      if (negotiated.as === undefined) return object
      if (negotiated.as !== 'Table') return partial(object, asVersion)
      const options = { includeObject, version: negotiated.asVersion, withColumns: isFirst }
      isFirst = false
      const { resourceVersion } = objectAt(object, 'metadata')
      return { ...this.#printer.table(info, [object], options), metadata: { resourceVersion } }
    }
    const write = (type: string, object: JsonObject) => watchLine(type, encoder.encode(JSON.stringify(render(object))))
    const isShared = negotiated.as !== 'Table'
    return {
      event: (type, event) => {
        const form = this.#context.readForms.of(info, event.current)
        const { object } = form
        if (object.apiVersion !== apiVersion) {
          return toVersion(this.#context, object, apiVersion, signal).then((converted) => write(type, converted))
        }
        if (!isShared || form !== event.current) return write(type, object)
        return negotiated.as === undefined ? event.line(type) : event.line(type, asVersion, render)
      },
      object: (type, raw) => {
        const stored = this.#context.readForms.of(info, raw)
        if (stored.object.apiVersion !== apiVersion) {
          return toVersion(this.#context, stored.object, apiVersion, signal).then((object) => write(type, object))
        }
        return negotiated.as === undefined ? watchLine(type, stored.json) : write(type, stored.object)
      },
      bookmark: (bookmark) =>
        watchLine(
          'BOOKMARK',
          encoder.encode(JSON.stringify(negotiated.as === undefined ? bookmark : render(bookmark))),
        ),
    }
  }

  /** The stored form of this object, so that a write and later lists serialize it once. */
  #storedForm(info: ResourceInfo, object: JsonObject): StoredObject | undefined {
    const name = nameOf(object)
    if (name === '') return undefined
    const stored = this.#context.store.get(storageKey(info), objectKey(namespaceOf(object), name))
    return stored?.object === object ? stored : undefined
  }

  #transform(target: RenderTarget, object: JsonObject): JsonObject {
    const { negotiated, info, includeObject } = target
    if (negotiated.as === undefined || object.kind === 'Status') return object
    if (negotiated.as === 'Table') {
      const metadata = { resourceVersion: objectAt(object, 'metadata').resourceVersion }
      const options = { includeObject, version: negotiated.asVersion, withColumns: true }
      return { ...this.#printer.table(info, [object], options), metadata }
    }
    if (negotiated.as === 'PartialObjectMetadataList') {
      throw wrongShape(
        `you requested PartialObjectMetadataList, but the requested object is not a list (${goType(info)})`,
      )
    }
    return partial(object, `meta.k8s.io/${negotiated.asVersion}`)
  }

  async #respond(status: number, target: RenderTarget, value: JsonObject, headers?: Headers): Promise<ServerResponse> {
    if (target.negotiated.format === 'yaml') {
      return yaml(status, value, headers)
    }
    const body = target.pretty ? JSON.stringify(value, undefined, 2) : `${JSON.stringify(value)}\n`
    return complete(status, 'application/json', body, headers)
  }
}

/** Whether the client accepts the object unchanged, in compact JSON. */
function isPlain({ negotiated, pretty }: RenderTarget): boolean {
  return negotiated.format === 'json' && negotiated.as === undefined && !pretty
}

function plainObject(status: number, stored: StoredObject): ServerResponse {
  return {
    status,
    headers: { 'cache-control': 'no-cache, private', 'content-type': 'application/json' },
    body: new CompleteBody([stored.json, newline]),
  }
}

function wrongShape(message: string): StatusError {
  return new StatusError(406, 'NotAcceptable', message)
}

/** The Go type of the real server, which appears in messages. */
function goType(info: ResourceInfo): string {
  return `*${info.custom ? 'unstructured' : info.group === '' ? 'core' : info.group.split('.')[0]}.${info.custom ? 'Unstructured' : info.kind}`
}

/** An object reduced to its metadata. */
function partial(object: JsonObject, apiVersion: string): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion, metadata: isJsonObject(object.metadata) ? object.metadata : {} }
}

const newline = encoder.encode('\n')
const comma = encoder.encode(',')
const brace = encoder.encode('{')

function* listChunks(info: ResourceInfo, metadata: JsonObject, items: readonly StoredObject[]): Generator<Uint8Array> {
  const apiVersion = apiVersionOf(info)
  const head = `{"kind":"${info.listKind}","apiVersion":"${apiVersion}","metadata":${JSON.stringify(metadata)},"items":[`
  yield encoder.encode(head)
  // Items of built-in lists have neither kind nor apiVersion; the store writes these two first, with a known length.
  const skipped = encoder.encode(`{"kind":"${info.kind}","apiVersion":"${apiVersion}",`).length
  let isFirst = true
  for (const stored of items) {
    if (!isFirst) yield comma
    isFirst = false
    if (info.custom) yield stored.json
    else {
      yield brace
      yield stored.json.subarray(skipped)
    }
  }
  yield encoder.encode(']}\n')
}

function concatenate(chunks: Iterable<Uint8Array>): Uint8Array {
  return Buffer.concat([...chunks])
}
