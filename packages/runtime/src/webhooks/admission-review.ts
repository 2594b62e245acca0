/** Admission reviews: the requests of the API server before it stores an object, and the responses. */
import type { JsonPatchOperation, KubeObject, UnknownObject } from '@reeve/kube'

/** Names a kind in one version. */
export interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** Names a resource in one version. */
export interface GroupVersionResource {
  readonly group: string
  readonly version: string
  readonly resource: string
}

/** One request to admit; `T` is the type of the object in the version that the webhook's rules name. */
export interface AdmissionRequest<T extends KubeObject = UnknownObject> {
  readonly uid: string
  readonly kind: GroupVersionKind
  readonly resource: GroupVersionResource
  readonly subResource?: string
  /** What the user sent, when that was another version. */
  readonly requestKind?: GroupVersionKind
  readonly requestResource?: GroupVersionResource
  /** Absent when the server makes the name. */
  readonly name?: string
  readonly namespace?: string
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly userInfo: {
    readonly username?: string
    readonly uid?: string
    readonly groups?: readonly string[]
    readonly extra?: Readonly<Record<string, readonly string[]>>
  }
  /** Absent for deletions. Frozen: a mutating webhook returns a changed copy. */
  readonly object?: T
  /** Absent for creations. */
  readonly oldObject?: T
  /** The request will not be stored: the handler must have no effects outside. */
  readonly dryRun?: boolean
  /** `CreateOptions`, `UpdateOptions` or `DeleteOptions` as the user sent them. */
  readonly options?: Readonly<Record<string, unknown>> | null
}

/** One field that is wrong, as `kubectl` lists them. */
export interface DenialCause {
  /** Path such as `spec.replicas`. */
  readonly field?: string
  readonly message: string
  /** Such as `FieldValueInvalid`. */
  readonly reason?: string
}

/** The request is rejected. */
export interface Denial {
  readonly allowed: false
  /** Shown to the user: name the field and the remedy. */
  readonly message: string
  /** HTTP status that the user's client gets. @default 403 */
  readonly code?: number
  /** @default 'Forbidden' */
  readonly reason?: string
  readonly causes?: readonly DenialCause[]
  readonly warnings?: readonly string[]
}

/** The request is allowed unchanged. */
export interface Approval {
  readonly allowed: true
  /** Shown to the user by `kubectl`. */
  readonly warnings?: readonly string[]
  /** Why the request is allowed; shown in the audit log of the API server, not to the user. */
  readonly message?: string
}

/** The request is allowed with changes: the changed object, or the operations that change it. */
export interface Mutation extends Approval {
  readonly object?: KubeObject
  readonly patch?: readonly JsonPatchOperation[]
}

/**
 * Allows a request.
 *
 * @example
 * return allow(['spec.image: the tag latest makes roll-backs impossible'])
 */
export function allow(warnings?: readonly string[]): Approval {
  return { allowed: true, ...(warnings?.length && { warnings }) }
}

/**
 * Rejects a request.
 *
 * @example
 * return deny('spec.replicas: must be at most 100, got 500', { code: 422, reason: 'Invalid' })
 */
export function deny(message: string, more: Omit<Denial, 'allowed' | 'message'> = {}): Denial {
  return { allowed: false, message, ...more }
}

/**
 * Allows a request with `object` in place of the one that was sent. The webhook server computes the patch.
 *
 * @example
 * mutatingWebhook<WebApp>('/mutate', ({ object }) =>
 *   object === undefined ? allow() : mutate({ ...object, spec: { ...object.spec, replicas: 1 } }),
 * )
 */
export function mutate<T extends KubeObject>(object: T, warnings?: readonly string[]): Mutation {
  return { allowed: true, object, ...(warnings?.length && { warnings }) }
}
