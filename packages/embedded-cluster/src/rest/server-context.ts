/** The parts of the server that HTTP requests use in addition to those of the verbs. */
import type { UserInfo } from '../api/user.ts'
import type { HistoryExpiry } from '../history-expiry.ts'
import type { JsonObject } from '../json.ts'
import type { SchemaLookup } from '../registry/builtin-resources.ts'
import type { RestContext, WriteRequest } from './context.ts'
import type { ConnectPort } from './port-forward.ts'
import type { WatchHub } from './watch-hub.ts'

/** Handles a create without storing the object, as the review APIs do. */
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

/** The source of container logs. */
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

/** Runs a command in a container. */
export type PodCommands = (
  pod: JsonObject,
  options: {
    readonly container: string
    readonly command: readonly string[]
    /** The standard input, once the client closed it; empty without one. */
    readonly readStdin: () => Promise<string>
  },
) => Promise<{ readonly stdout: string; readonly stderr: string; readonly exitCode: number }>

/** What serves the ports of a pod; `undefined` if nothing does. */
export type PodPorts = (pod: JsonObject) => ConnectPort | undefined

/** Everything a request may use. */
export interface ServerContext extends RestContext {
  readonly hub: WatchHub
  /** Keeps the revisions of lists that clients still page through, and expires them in time. */
  readonly history: Pick<HistoryExpiry, 'hold'>
  /** Schemas of built-in kinds, including those that are not resources. */
  readonly schemaOf: SchemaLookup
  /** A watch with more undelivered events than this is closed. */
  readonly maxBufferedEvents: number
  /** By `plural.group`. */
  readonly virtualCreates: ReadonlyMap<string, VirtualCreate>
  readonly issueToken: TokenIssuer
  readonly podLogs: PodLogs
  readonly podCommands: PodCommands
  readonly podPorts: PodPorts
}
