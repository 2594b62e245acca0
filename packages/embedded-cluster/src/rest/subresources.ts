/** Subresources that are more than another view of the object: scale, eviction, binding, token, log. */
import type { JsonObject } from '../json.ts'
import { groupResource, type ResourceInfo } from '../registry/resource-info.ts'
import type { ParsedBody } from '../schema/parse.ts'
import type { WriteRequest } from './context.ts'
import type { RequestInfo } from './request-info.ts'
import type { ServerContext } from './server-context.ts'

/** The request as a subresource sees it. */
export interface SubresourceCall {
  readonly verb: RequestInfo['verb']
  readonly query: URLSearchParams
  /** Parses the body; throws when there is none or it is malformed. */
  readonly body: () => ParsedBody
  readonly mediaType: string
}

/** An object with its HTTP status, or lines of text. */
export type SubresourceAnswer =
  | { readonly status: number; readonly object: JsonObject }
  | { readonly text: AsyncIterable<string> | Iterable<string> }

/** Carries out a call on a subresource. */
export type SubresourceHandler = (
  context: ServerContext,
  request: WriteRequest,
  call: SubresourceCall,
) => Promise<SubresourceAnswer>

const handlers: Readonly<Record<string, SubresourceHandler>> = {}

/** Finds what serves a subresource; `undefined` when it is an ordinary view such as `status`. */
export const subresourceHandlers = {
  find(info: ResourceInfo, name: string | undefined): SubresourceHandler | undefined {
    if (name === undefined) return undefined
    return handlers[`${groupResource(info)}/${name}`] ?? handlers[`*/${name}`]
  },
}
