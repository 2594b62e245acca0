/** The last line of a program that failed. */
import { explainFailure } from '@reeve/kube/explain-failure'

export { isEnvironmentFailure } from '@reeve/kube/explain-failure'

import { redactText } from '@reeve/http/redact'

/** What went wrong and what to do, in one line of plain text without secrets. */
export function failureLine(program: string, error: unknown, secretPatterns: readonly RegExp[] = []): string {
  return `${program}: ${redactText(explainFailure(error), secretPatterns)}\n`
}
