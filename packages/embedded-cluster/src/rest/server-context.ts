/** The parts of the server that requests over HTTP need on top of what the verbs share. */
import type { UserInfo } from '../auth/user.ts'
import type { JsonObject } from '../json.ts'
import type { SchemaLookup } from '../registry/builtin-resources.ts'
import type { RestContext, WriteRequest } from './context.ts'
import type { WatchHub } from './watch-hub.ts'

/** Answers a create without storing anything, as the review APIs do. */
export type VirtualCreate = (
  object: JsonObject,
  request: { readonly user: UserInfo; readonly namespace: string | undefined; readonly signal: AbortSignal },
) => Promise<JsonObject> | JsonObject

/** Issues a token for a service account; the body is a TokenRequest. */
export type TokenIssuer = (
  serviceAccount: JsonObject,
  tokenRequest: JsonObject,
  request: WriteRequest,
) => Promise<JsonObject> | JsonObject

/** Where the lines of a container's log come from. */
export type PodLogs = (
  pod: JsonObject,
  options: {
    readonly container: string
    readonly follow: boolean
    readonly previous: boolean
    readonly tailLines: number | undefined
    readonly limitBytes: number | undefined
    readonly timestamps: boolean
    readonly sinceTime: number | undefined
    readonly signal: AbortSignal
  },
) => AsyncIterable<string> | Iterable<string>

/** Everything a request may touch. */
export interface ServerContext extends RestContext {
  readonly hub: WatchHub
  /** Schemas of built-in kinds, also of those that are no resources of their own. */
  readonly schemaOf: SchemaLookup
  /** Undelivered events above which a watch is cut. */
  readonly maxBufferedEvents: number
  /** By `plural.group`. */
  readonly virtualCreates: ReadonlyMap<string, VirtualCreate>
  readonly issueToken: TokenIssuer
  readonly podLogs: PodLogs
}
