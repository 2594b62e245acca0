/** Decides how to free a release that a crash left in the middle of an operation. */

/** What to do about a release. */
export type RecoveryPlan =
  /** Nothing is pending. */
  | { readonly action: 'none' }
  /** Its author may still be at work: look again after `retryAfterMs`. */
  | { readonly action: 'wait'; readonly retryAfterMs: number }
  /** Nothing was ever completed: remove the traces, then install anew. */
  | { readonly action: 'uninstall' }
  /** Return to the newest revision that was complete. */
  | { readonly action: 'rollback'; readonly revision: number }
