/** The standard shape of a status condition. */

/** One aspect of an object's state, as `status.conditions` lists them. */
export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
  readonly observedGeneration?: number
}
