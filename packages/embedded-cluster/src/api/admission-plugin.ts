/** The interface through which plug-ins and webhooks process a write before it is stored. */

import type { JsonObject } from '../json.ts'
import type { ResourceInfo } from '../registry/resource-info.ts'
import type { UserInfo } from './user.ts'

/** One write that is about to be stored. */
export interface AdmissionAttributes {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly resource: ResourceInfo
  readonly subresource: string | undefined
  readonly namespace: string | undefined
  readonly name: string | undefined
  /** New state; absent for DELETE. */
  readonly object: JsonObject | undefined
  /** Stored state, in the request's version; absent for CREATE. */
  readonly oldObject: JsonObject | undefined
  readonly user: UserInfo
  readonly dryRun: boolean
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions. */
  readonly options: JsonObject
  /** Adds a `Warning` header to the response. */
  readonly warn: (message: string) => void
  readonly signal: AbortSignal
}

/** Throws a StatusError to reject the request. */
export interface AdmissionPlugin {
  readonly name: string
  /** Returns the object to continue with; the input is never modified. */
  mutate?(attributes: AdmissionAttributes): Promise<JsonObject | undefined> | JsonObject | undefined
  validate?(attributes: AdmissionAttributes): Promise<void> | void
}
