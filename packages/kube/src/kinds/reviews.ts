/** Reviews, which are not stored. */
import type { KubeObject } from '../objects.ts'

/** An identity from the server's view. */
export interface UserInfo {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** `authentication.k8s.io/v1` TokenReview: the user of a token. */
export interface TokenReview extends KubeObject {
  readonly spec: { readonly token?: string; readonly audiences?: readonly string[] }
  readonly status?: {
    readonly authenticated?: boolean
    readonly user?: UserInfo
    readonly audiences?: readonly string[]
    readonly error?: string
  }
}

/** One action on a resource. */
export interface ResourceAttributes {
  readonly verb?: string
  readonly group?: string
  readonly version?: string
  readonly resource?: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
}

/** The result of an access review. */
export interface AccessReviewStatus {
  readonly allowed: boolean
  readonly denied?: boolean
  readonly reason?: string
  readonly evaluationError?: string
}

/** `authorization.k8s.io/v1` SubjectAccessReview: whether a user is allowed to do something. */
export interface SubjectAccessReview extends KubeObject {
  readonly spec: {
    readonly user?: string
    readonly uid?: string
    readonly groups?: readonly string[]
    readonly extra?: Readonly<Record<string, readonly string[]>>
    readonly resourceAttributes?: ResourceAttributes
    readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string }
  }
  readonly status?: AccessReviewStatus
}

/** `authorization.k8s.io/v1` SelfSubjectAccessReview: whether the requesting user is allowed to do something. */
export interface SelfSubjectAccessReview extends KubeObject {
  readonly spec: {
    readonly resourceAttributes?: ResourceAttributes
    readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string }
  }
  readonly status?: AccessReviewStatus
}
