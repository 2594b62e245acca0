/** Images of workloads that users name. */

/** When the kubelet pulls an image. */
export type PullPolicy = 'Always' | 'IfNotPresent' | 'Never'

/** An image in two halves, as templates give it. */
export interface ImageReference {
  readonly repository?: string
  readonly tag?: string
  readonly pullPolicy?: PullPolicy
}

/**
 * When an image is pulled, as the user sets it; otherwise always, so that a tag that moves is noticed.
 *
 * @example
 * imagePullPolicy: pullPolicyOf(template?.imageRef?.pullPolicy)
 */
export const pullPolicyOf = (given: PullPolicy | undefined, byDefault: PullPolicy = 'Always'): PullPolicy =>
  given || byDefault

/** Joins the halves; what is missing comes from `fallback`. */
export function imageOf(given: ImageReference | undefined, fallback: ImageReference = {}): string {
  return `${given?.repository || (fallback.repository ?? '')}:${given?.tag || (fallback.tag ?? '')}`
}

/**
 * Whether an image is the desired one, pinned by a digest or not. A common prefix is not enough: `agent:1.20` is
 * not `agent:1.2`.
 */
export const isImage = (image: string | undefined, wanted: string): boolean =>
  image === wanted || image?.startsWith(`${wanted}@`) === true
