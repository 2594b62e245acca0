/** Something that a plan has to say besides its changes. */
export interface PlanFinding {
  /** An error is a refusal or a failure, and makes the plan incomplete. */
  readonly severity: 'error' | 'warning' | 'note'
  readonly message: string
  /** Such as `DynaKube dynatrace/dynakube`. */
  readonly object?: string
  /** The rule of admission behind it. */
  readonly rule?: string
  /** Where it stands, for what is about a file; line and column count from 1. */
  readonly file?: string
  readonly line?: number
  readonly column?: number
}
