/** Questions that the server answers without storing anything. */
import type { KubeObject } from '../objects.ts'

/** An identity as the server sees it. */
export interface UserInfo {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** `authentication.k8s.io/v1` TokenReview: who is behind this token? */
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

/** The answer to an access review. */
export interface AccessReviewStatus {
  readonly allowed: boolean
  readonly denied?: boolean
  readonly reason?: string
  readonly evaluationError?: string
}

/** `authorization.k8s.io/v1` SubjectAccessReview: may this user do that? */
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

/** `authorization.k8s.io/v1` SelfSubjectAccessReview: may I do that? */
export interface SelfSubjectAccessReview extends KubeObject {
  readonly spec: {
    readonly resourceAttributes?: ResourceAttributes
    readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string }
  }
  readonly status?: AccessReviewStatus
}
