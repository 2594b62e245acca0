/** Patterns of Dynatrace secrets, to redact them in logs. */

/** What follows the `Authorization` scheme of Dynatrace, and tokens by themselves: kind, public part, secret part. */
export const DYNATRACE_TOKENS: readonly RegExp[] = [
  /(?<=\bApi-Token\s{1,9})[\w.~+/=-]{4,}/g,
  /\bdt0[a-z]\d{2}\.\w+\.\w+/g,
]
