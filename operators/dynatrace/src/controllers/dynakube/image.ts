/** Images of workloads that the user names in templates. */

/** An image in two halves, as templates give it. */
export interface ImageReference {
  readonly repository?: string
  readonly tag?: string
}

/** Joins the halves; what is missing comes from `fallback`. */
export function imageOf(given: ImageReference | undefined, fallback: ImageReference = {}): string {
  return `${given?.repository || (fallback.repository ?? '')}:${given?.tag || (fallback.tag ?? '')}`
}
