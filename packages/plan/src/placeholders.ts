/** What a plan prints in the place of values that it does not know or must not show. */

/** The server or the tenant will choose it. */
export const KNOWN_AFTER_APPLY = '(known after apply)'

/** The operator makes it up, or works it out from something made up or secret. */
export const GENERATED = '(generated)'

/** Data of a Secret. */
export const SENSITIVE = '(sensitive)'
